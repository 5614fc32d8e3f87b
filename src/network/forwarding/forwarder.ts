import type { Target } from '../routes/routes.ts'

/** Forwards the traffic of one address and port. */
export interface Forwarder {
  /** Opens the port. Rejects with the system's error. */
  listen(at: Target): Promise<void>
  /** The number of sockets of forwarded connections or UDP flows. Both ends count. */
  readonly connections: number
  /** Called when the endpoints of its balancer have changed. */
  targetsChanged?(): void
  /** Accepts no new connections. */
  stopListening(): void
  /** Closes all connections. */
  close(): void
}
