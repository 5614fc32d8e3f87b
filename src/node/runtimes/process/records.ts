import { mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import type { ContainerConfig, SandboxConfig, SandboxState } from '../../runtime/runtime.ts'
import { type ProcessState, stateFile } from './shim/protocol.ts'
import { writeWhole } from '../../runtime/write-whole.ts'

/** The stored state of a sandbox. */
export interface SandboxRecord {
  id: string
  config: SandboxConfig
  runtimeHandler: string
  state: SandboxState
  createdAtMs: number
  /** Undefined for a pod in the host network. */
  address: string | undefined
  /** The machine's boot id. A sandbox does not survive a reboot. */
  boot: string
}

/** The stored state of a container, except what the shim writes. */
export interface ContainerRecord {
  id: string
  sandboxId: string
  config: ContainerConfig
  createdAtMs: number
}

const recordFile = 'record.json'
const bornFile = 'born.json'

/** The stored state of a runtime: a directory for each sandbox and each container. */
export class Records {
  readonly #root: string

  constructor(root: string) {
    this.#root = root
    for (const kind of ['sandboxes', 'containers']) mkdirSync(path.join(root, kind), { recursive: true, mode: 0o711 })
  }

  sandboxDirectory = (id: string): string => path.join(this.#root, 'sandboxes', id)
  containerDirectory = (id: string): string => path.join(this.#root, 'containers', id)

  saveSandbox(record: SandboxRecord): void {
    save(this.sandboxDirectory(record.id), record)
  }

  saveContainer(record: ContainerRecord): void {
    save(this.containerDirectory(record.id), record)
  }

  /** The state that the shim has written. Undefined if the container was never started. */
  processState(containerId: string): ProcessState | undefined {
    return read<ProcessState>(path.join(this.containerDirectory(containerId), stateFile))
  }

  /** Writes the state of a container without a shim. */
  saveProcessState(containerId: string, state: ProcessState): void {
    writeWhole(path.join(this.containerDirectory(containerId), stateFile), JSON.stringify(state))
  }

  /**
   * The time at which the directory was created. The records are complete since then. A new directory has a new time.
   */
  bornMs(nowMs: number): number {
    const file = path.join(this.#root, bornFile)
    const born = read<{ atMs: number }>(file)
    if (!born) writeWhole(file, JSON.stringify({ atMs: nowMs }))
    return born?.atMs ?? nowMs
  }

  removeSandbox(id: string): void {
    rmSync(this.sandboxDirectory(id), { recursive: true, force: true })
  }

  removeContainer(id: string): void {
    rmSync(this.containerDirectory(id), { recursive: true, force: true })
  }

  /** Reads all complete records. */
  load(): { sandboxes: SandboxRecord[]; containers: ContainerRecord[] } {
    return {
      sandboxes: loadAll<SandboxRecord>(path.join(this.#root, 'sandboxes')),
      containers: loadAll<ContainerRecord>(path.join(this.#root, 'containers')),
    }
  }
}

function save(directory: string, record: object): void {
  mkdirSync(directory, { recursive: true, mode: 0o711 })
  writeWhole(path.join(directory, recordFile), JSON.stringify(record))
}

function loadAll<T>(folder: string): T[] {
  return readdirSync(folder).flatMap((id) => {
    const record = read<T>(path.join(folder, id, recordFile))
    if (record === undefined) rmSync(path.join(folder, id), { recursive: true, force: true })
    return record ?? []
  })
}

function read<T>(file: string): T | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T
  } catch {
    return undefined
  }
}
