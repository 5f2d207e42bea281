/** The body of a PATCH request. */
import { messageOf } from '#lib/errors.ts';
import { isObject, type JsonObject } from '#lib/json.ts';
import { type Decoded, decodeJson, decodeYaml } from './decode.ts';
import { patchTypeOf } from './media-type.ts';
import { RequestError } from './request-error.ts';

export type DecodedPatch =
  | (Decoded<unknown> & { readonly type: 'json-patch' | 'merge-patch' })
  | (Decoded<JsonObject> & { readonly type: 'apply-patch' });

export function decodePatch(contentType: string | undefined, bytes: Uint8Array): DecodedPatch {
  const type = patchTypeOf(contentType);
  if (type !== 'apply-patch') return { type, ...decoding('error decoding patch', () => decodeJson(bytes)) };
  const { value, duplicates } = decoding('error decoding YAML', () => decodeYaml(bytes));
  if (!isObject(value)) throw new RequestError(400, 'error decoding YAML: expected an object');
  return { type, value, duplicates };
}

function decoding<T>(complaint: string, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    throw new RequestError(400, `${complaint}: ${messageOf(error)}`, { cause: error });
  }
}
