/**
 * A signal that aborts after so long. Not AbortSignal.timeout: Node 20 gives that up to the garbage collector where nothing but
 * AbortSignal.any() refers to it, and what it should have ended waits for ever.
 */
export function timeLimit(ms: number): AbortSignal {
  const controller = new AbortController();
  // The timer holds the controller until it is over.
  setTimeout(() => controller.abort(new DOMException(`it took longer than ${ms} ms`, 'TimeoutError')), ms).unref();
  return controller.signal;
}
