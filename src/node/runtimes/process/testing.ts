import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { systemClock } from '../../../base/clock.ts'
import { silentLogger } from '../../../base/logger.ts'
import { systemRandom } from '../../../base/random.ts'
import { allProcesses, containerIdVariable } from './proc.ts'
import { ProcessRuntime, type ProcessRuntimeOptions } from './process-runtime.ts'

/** Builds the shim for a test that runs from sources; answers its path. */
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

/**
 * A directory of its own for a process runtime, which can be opened again and again, as agents do that are started
 * anew.
 */
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

  /** The shims that run. */
  #shims(): number[] {
    return allProcesses()
      .filter((p) => commandLine(p.pid).startsWith(`coxswain-shim ${this.directory}`))
      .map((p) => p.pid)
  }

  /** Numbers of processes that containers have, or had: those that are marked with an id that this directory knows. */
  processesLeft(ids: readonly string[]): number[] {
    return allProcesses()
      .filter((p) => !p.isZombie && ids.some((id) => environment(p.pid).includes(`${containerIdVariable}=${id}`)))
      .map((p) => p.pid)
  }

  /** Ends everything that was started, and removes the directory. */
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
    // It has ended meanwhile.
    return ''
  }
}

const commandLine = (pid: number) => readText(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')
const environment = (pid: number) => readText(`/proc/${pid}/environ`)
