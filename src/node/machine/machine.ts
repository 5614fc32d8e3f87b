/** The capacity of a resource and its free amount. */
export interface Supply {
  capacity: number
  available: number
}

/** The measured resources of a node's machine, used by `kubectl top node` and evictions. */
export interface MachineState {
  /** The time of the measurement. */
  atMs: number
  /** CPU time of all cores since the machine was started. */
  cpuNanos: number
  /** In bytes. */
  memory: Supply
  /** Bytes of the node's file system. */
  disk: Supply
  inodes: Supply
  pids: Supply
}

export interface Machine {
  look(): Promise<MachineState>
}
