/** What the agent and the shim agree on: another number means that they cannot speak to each other. */
export const protocolVersion = 1

/** What the shim is to start, with everything decided: it knows nothing of pods. */
export interface Launch {
  /** Where the container's files are; the shim writes its state there. */
  directory: string
  command: readonly string[]
  env: Readonly<Record<string, string>>
  workingDirectory: string
  /** Set where the shim is to change to them; a command that makes a root of its own does it itself. */
  user: { uid?: number; gid?: number }
  /** The user who may open /dev/stdout and /dev/stderr anew; undefined: only root may. */
  outputOwner?: number | undefined
  logPath: string
  stdin: boolean
  stdinOnce: boolean
  /** The command makes a terminal for its program, which is a child of it. */
  tty: boolean
  /** The command says on descriptor 3 that all is prepared, or else why not. */
  reportsReady: boolean
  /** The program is in namespaces of its own, which the command has made: it gets the stop signal alone. */
  hasNamespaces?: boolean
  stopSignal: string
  /** Where the shim answers HTTP for the container, and with what. */
  placeholder: { address: string; ports: readonly number[]; text: string } | undefined
}

/** What is known of a container's process; written whole or not at all. */
export interface ProcessState {
  state: 'running' | 'exited'
  pid: number
  /** When the kernel says that it started: a process with the same number and another start is another one. */
  pidStart: string
  startedAtMs: number
  finishedAtMs: number
  exitCode: number
  reason: string
  message: string
}

/** The name of a container's ProcessState in its directory. */
export const stateFile = 'state.json'

export type Request =
  | { op: 'start'; id: string; launch: Launch }
  | { op: 'stop'; id: string; timeoutSeconds: number }
  | { op: 'attach'; id: string; stdin: boolean }
  /** From then on a line comes for each container that ends. */
  | { op: 'watch' }

export type Answer = { ok: true; version: number } | { ok: false; message: string }

/** A container has ended: its state is in its file. */
export interface Ended {
  ended: string
}

/** What is in a frame of an attachment: its first byte. */
const frameKinds = { stdin: 0, stdout: 1, stderr: 2, stdinEnd: 3, resize: 4, exit: 5 } as const
export type FrameKind = keyof typeof frameKinds

const kindOf = new Map<number, FrameKind>((Object.keys(frameKinds) as FrameKind[]).map((k) => [frameKinds[k], k]))

/** One byte of kind, four of length, the content. */
export function frame(kind: FrameKind, content: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head[0] = frameKinds[kind]
  head.writeUInt32BE(content.length, 1)
  return Buffer.concat([head, content])
}

/** Puts frames together from the pieces that arrive. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0)

  /** Answers what is complete now. */
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
