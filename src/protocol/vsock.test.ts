import { expect, it } from 'vitest';
import { HOST_CID, vsockAddress } from './vsock.ts';

it('is an address as the kernel reads it', () => {
  expect(vsockAddress(HOST_CID, 5000).toString('hex')).toBe('28000000881300000200000000000000');
});
