/** The version of the protocol between agent and shim. Different versions are incompatible. */
export const protocolVersion = 1

/** The complete instructions for one container. The shim knows nothing about pods. */
export interface Launch {
  /** The directory of the container's files, in which the shim writes its state. */
  directory: string
  command: readonly string[]
  env: Readonly<Record<string, string>>
  workingDirectory: string
  /**
   * The user that the shim changes to. Empty if the command does that itself, because it creates a root directory
   * first.
   */
  user: { uid?: number; gid?: number }
  /** The user who may reopen /dev/stdout and /dev/stderr. Undefined allows only root. */
  outputOwner?: number | undefined
  logPath: string
  stdin: boolean
  stdinOnce: boolean
  /** The command creates a terminal for its program, which is its child. */
  tty: boolean
  /** The command reports on descriptor 3 that it is ready, or its error. */
  reportsReady: boolean
  /** The command has created namespaces for the program, which alone gets the stop signal. */
  hasNamespaces?: boolean
  stopSignal: string
  /** The address, ports and text with which the shim answers HTTP requests for the container. */
  placeholder: { address: string; ports: readonly number[]; text: string } | undefined
}

/** The state of a container's process. It is written atomically. */
export interface ProcessState {
  state: 'running' | 'exited'
  pid: number
  /** The start time from the kernel. It distinguishes processes with the same number. */
  pidStart: string
  startedAtMs: number
  finishedAtMs: number
  exitCode: number
  reason: string
  message: string
}

/** The file name of a container's ProcessState in its directory. */
export const stateFile = 'state.json'

export type Request =
  | { op: 'start'; id: string; launch: Launch }
  | { op: 'stop'; id: string; timeoutSeconds: number }
  | { op: 'attach'; id: string; stdin: boolean }
  /** The shim then sends a line for each container that ends. */
  | { op: 'watch' }

export type Answer = { ok: true; version: number } | { ok: false; message: string }

/** A container has ended. Its state is in its file. */
export interface Ended {
  ended: string
}

/** The type of a frame of an attachment, which is its first byte. */
const frameKinds = { stdin: 0, stdout: 1, stderr: 2, stdinEnd: 3, resize: 4, exit: 5 } as const
export type FrameKind = keyof typeof frameKinds

const kindOf = new Map<number, FrameKind>((Object.keys(frameKinds) as FrameKind[]).map((k) => [frameKinds[k], k]))

/** One byte for the type, four for the length, and the content. */
export function frame(kind: FrameKind, content: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head[0] = frameKinds[kind]
  head.writeUInt32BE(content.length, 1)
  return Buffer.concat([head, content])
}

/** Assembles frames from chunks. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0)

  /** Returns the frames that are complete now. */
  read(piece: Buffer): { kind: FrameKind; content: Buffer }[] {
    this.#rest = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece])
    const frames: { kind: FrameKind; content: Buffer }[] = []
    while (this.#rest.length >= 5) {
      const end = 5 + this.#rest.readUInt32BE(1)
      if (this.#rest.length < end) break
      const kind = kindOf.get(this.#rest[0]!)
      if (kind) frames.push({ kind, content: this.#rest.subarray(5, end) })
      this.#rest = this.#rest.subarray(end)
    }
    return frames
  }
}
