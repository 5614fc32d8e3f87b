import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { systemClock } from '../../../base/clock.ts'
import { silentLogger } from '../../../base/logger.ts'
import { systemRandom } from '../../../base/random.ts'
import { allProcesses, containerIdVariable } from './proc.ts'
import { ProcessRuntime, type ProcessRuntimeOptions } from './process-runtime.ts'

/** Builds the shim for a test that runs from sources. Resolves with its path. */
async function buildShim(directory: string): Promise<string> {
  const { build } = await import('esbuild')
  const outfile = path.join(directory, 'coxswain-shim.mjs')
  await build({
    entryPoints: [path.join(import.meta.dirname, 'shim/main.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'warning',
  })
  return outfile
}

/** A directory for a process runtime that can be opened repeatedly, as by restarted agents. */
export class ProcessBench {
  readonly directory = mkdtempSync(path.join(tmpdir(), 'coxswain-process-'))
  readonly #opened = new Map<ProcessRuntime, Partial<ProcessRuntimeOptions>>()
  #shimProgram: string | undefined

  async open(options: Partial<ProcessRuntimeOptions> = {}): Promise<ProcessRuntime> {
    this.#shimProgram ??= await buildShim(this.directory)
    const runtime = await ProcessRuntime.open({
      directory: path.join(this.directory, 'runtime'),
      clock: systemClock,
      random: systemRandom,
      logger: silentLogger,
      shimProgram: this.#shimProgram,
      ...options,
    })
    this.#opened.set(runtime, options)
    return runtime
  }

  get shimProgram(): string | undefined {
    return this.#shimProgram
  }

  /** The running shims. */
  #shims(): number[] {
    return allProcesses()
      .filter((p) => commandLine(p.pid).startsWith(`coxswain-shim ${this.directory}`))
      .map((p) => p.pid)
  }

  /** The processes of containers with these ids, found by their environment variable. */
  processesLeft(ids: readonly string[]): number[] {
    return allProcesses()
      .filter((p) => !p.isZombie && ids.some((id) => environment(p.pid).includes(`${containerIdVariable}=${id}`)))
      .map((p) => p.pid)
  }

  /** Ends all started processes and removes the directory. */
  async end(): Promise<void> {
    for (const runtime of this.#opened.keys()) await runtime.close()
    const directories = new Set([...this.#opened.values()].map(({ directory }) => directory))
    for (const directory of directories) {
      const runtime = await this.open(directory === undefined ? {} : { directory })
      for (const { id } of await runtime.listPodSandboxes()) await runtime.removePodSandbox(id)
      await runtime.close()
    }
    for (const shim of this.#shims()) process.kill(shim, 'SIGTERM')
    rmSync(this.directory, { recursive: true, force: true })
  }
}

const readText = (file: string): string => {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    // The process has ended meanwhile.
    return ''
  }
}

const commandLine = (pid: number) => readText(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')
const environment = (pid: number) => readText(`/proc/${pid}/environ`)
