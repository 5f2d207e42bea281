/**
 * One port of a virtual machine that the host connects to, in the place of a unix socket. It carries one connection at a time: the newest.
 * The port is opened again whenever the host has hung up, because what is open then reads as ended for ever.
 */
import type { Duplex } from 'node:stream';
import { PortConnection } from '#protocol/port-connection.ts';
import { encodeMark, type Mark, MarkReader } from '#protocol/port-marks.ts';
import { openPort } from './open-port.ts';

export interface PortListenerOptions {
  readonly path: string;
  serve(connection: Duplex): void;
  report(problem: string): void;
  /** For tests. */
  readonly open?: (path: string) => Duplex;
}

/** Without a host every look costs a little; with one that has just gone, the next is usually near. */
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 250;

export class PortListener {
  readonly #options: PortListenerOptions;
  #carrier: Duplex | undefined;
  #connection: PortConnection | undefined;
  /** The last connection that a host was told is ready. */
  #answered: string | undefined;
  #pauseMs = FIRST_PAUSE_MS;
  #problem = '';
  #isClosed = false;

  constructor(options: PortListenerOptions) {
    this.#options = options;
    this.#open();
  }

  get connections(): number {
    return this.#connection === undefined ? 0 : 1;
  }

  /** A port stays as long as its machine. */
  get isInPlace(): boolean {
    return true;
  }

  close(): void {
    this.#isClosed = true;
    this.#connection?.end();
    this.#carrier?.end();
  }

  #open(): void {
    if (this.#isClosed) return;
    let carrier: Duplex;
    try {
      carrier = (this.#options.open ?? openPort)(this.#options.path);
    } catch (error) {
      this.#complain((error as Error).message);
      this.#openLater();
      return;
    }
    this.#carrier = carrier;
    // What was on its way while it was not open is lost, and whoever has said it is still there may wait for an answer for ever.
    if (this.#answered !== undefined) carrier.write(encodeMark({ kind: 'end', connection: this.#answered }));
    const reader = new MarkReader();
    carrier.on('data', (chunk: Uint8Array) => {
      for (const part of reader.push(chunk)) this.#take(carrier, part);
    });
    carrier.on('error', (error) => this.#complain(error.message));
    carrier.on('hangup', () => this.#cut());
    carrier.once('close', () => {
      this.#cut();
      this.#openLater();
    });
  }

  #cut(): void {
    this.#connection?.cut();
    this.#connection = undefined;
  }

  #take(carrier: Duplex, part: Uint8Array | Mark): void {
    if (!('kind' in part)) this.#connection?.receive(part);
    else if (part.kind === 'open') this.#begin(carrier, part.connection);
    else if (part.kind === 'end' && part.connection === this.#connection?.name) this.#connection.receiveEnd();
  }

  /** The host repeats itself until it is heard. */
  #begin(carrier: Duplex, name: string): void {
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#problem = '';
    this.#answered = name;
    if (this.#connection?.name === name) {
      carrier.write(encodeMark({ kind: 'ready', connection: name }));
      return;
    }
    this.#connection?.cut();
    carrier.write(encodeMark({ kind: 'ready', connection: name }));
    const onClose = (ended: PortConnection) => {
      if (this.#connection === ended) this.#connection = undefined;
    };
    const connection = new PortConnection({ name, carrier, onClose });
    this.#connection = connection;
    this.#options.serve(connection);
  }

  #openLater(): void {
    if (this.#isClosed) return;
    setTimeout(() => this.#open(), this.#pauseMs);
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
  }

  /** Once each: a port that cannot be opened is tried several times a second. */
  #complain(problem: string): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    this.#options.report(`${this.#options.path}: ${problem}`);
  }
}
