/** How much there is of something, and how much of it is left. */
export interface Supply {
  capacity: number
  available: number
}

/** What the machine under a node says of itself: what `kubectl top node` shows and evictions go by. */
export interface MachineState {
  /** When it was so. */
  atMs: number
  /** Of all cores together, since the machine was started. */
  cpuNanos: number
  /** Bytes. */
  memory: Supply
  /** Bytes of the file system that the node keeps things on. */
  disk: Supply
  inodes: Supply
  pids: Supply
}

export interface Machine {
  look(): Promise<MachineState>
}
