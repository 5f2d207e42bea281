/** In which protocols a port is forwarded in the channels of a WebSocket. */

/**
 * In this one each side can end for itself. The name is ours: Kubernetes forwards ports with v4 only, and libraries that offer v5 first
 * wherever they connect (Python's does, for exec) do not know it here.
 */
export const HALF_CLOSING = 'v5.portforward.agentiso.dev';

/** The better one first. */
export const FORWARD_PROTOCOLS: readonly string[] = [HALF_CLOSING, 'v4.channel.k8s.io'];
