import { type ChildProcess, spawn } from 'node:child_process'
import path from 'node:path'
import type { Readable } from 'node:stream'
import type { Clock } from '../../../../base/clock.ts'
import { allProcesses, processStat, processesOf, processesOfNamespace, signalProcess } from '../proc.ts'
import { exitCodeOf } from '../exit-code.ts'
import { setTerminalSize } from '../terminal.ts'
import { writeWhole } from '../../../runtime/write-whole.ts'
import { LogFile } from './log-file.ts'
import { openPipes } from './pipes.ts'
import { Placeholder } from './placeholder.ts'
import { type Launch, type ProcessState, stateFile } from './protocol.ts'

/** The longest wait for output after the end of the process. Another process may hold it open. */
const lastWordsMs = 500

/** The delay before another attempt to store the state, for example on a full disk. */
const saveAgainMs = 1000

interface Listener {
  output(stream: 'stdout' | 'stderr', piece: Buffer): void
  ended(exitCode: number): void
}

/** One container's process: its output, its end, and its stored state. */
export class Supervised {
  readonly #id: string
  readonly #launch: Launch
  readonly #clock: Clock
  readonly #log: LogFile
  readonly #placeholder = new Placeholder()
  readonly #listeners = new Set<Listener>()
  #started: Promise<void> | undefined
  #child: ChildProcess | undefined
  #state: ProcessState = {
    state: 'running',
    pid: 0,
    pidStart: '',
    startedAtMs: 0,
    finishedAtMs: 0,
    exitCode: 0,
    reason: '',
    message: '',
  }
  readonly ended: Promise<void>
  #end = () => {}

  constructor(id: string, launch: Launch, clock: Clock) {
    this.#id = id
    this.#launch = launch
    this.#clock = clock
    this.#log = new LogFile(launch.logPath, clock)
    this.ended = new Promise((resolve) => (this.#end = resolve))
  }

  /**
   * Resolves when the program runs. Rejects with the reason if it does not, after storing it. A second call returns the
   * same start.
   */
  start(): Promise<void> {
    this.#started ??= this.#start()
    return this.#started
  }

  async #start(): Promise<void> {
    const { command, env, workingDirectory, user, stdin, tty, reportsReady, hasNamespaces, placeholder } = this.#launch
    const [stdout, stderr] = this.#openPipes()
    const child = spawn(command[0]!, command.slice(1), {
      cwd: workingDirectory,
      env: { ...env },
      ...user,
      detached: true,
      stdio: [
        stdin || tty ? 'pipe' : 'ignore',
        stdout.writeEnd,
        stderr.writeEnd,
        ...(reportsReady ? ['pipe' as const] : []),
      ],
    })
    this.#child = child
    const closed = Promise.all([
      stdout.read((piece) => this.#heard('stdout', piece)),
      stderr.read((piece) => this.#heard('stderr', piece)),
    ])
    // The stream ends when the program stops reading.
    child.stdin?.on('error', () => {})
    const exit = new Promise<number>((resolve) =>
      child.once('exit', (code, signal) => resolve(exitCodeOf(code, signal))),
    )
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', reject)
    }).catch((error: Error) => this.#failToStart(error.message))
    this.#state = {
      ...this.#state,
      pid: child.pid!,
      pidStart: processStat(child.pid!)?.start ?? '',
      startedAtMs: this.#clock.now(),
    }
    const problem =
      (reportsReady ? await reported(child.stdio[3] as Readable, hasNamespaces === true) : undefined) ??
      // The agent takes a container without a state for one that was never started.
      this.#tryToSave()?.message
    if (problem !== undefined) {
      this.kill()
      await exit
      this.#failToStart(problem)
    }
    const refused = placeholder
      ? await this.#placeholder.listen(placeholder, (line) =>
          this.#heard('stdout', Buffer.from(`placeholder: ${line}\n`)),
        )
      : []
    if (refused.length === 0) return void exit.then((code) => this.#finish(code, closed))
    // A server that cannot open its port ends too.
    void exit.then(() => this.#finish(1, closed, refused.join('; ')))
    this.kill()
  }

  /** Resolves when the process has ended. Of several calls the shortest timeout applies. */
  async stop(timeoutSeconds: number): Promise<void> {
    // The caller of the start gets its error.
    await this.#started?.catch(() => {})
    if (!this.#child || this.#state.state === 'exited') return
    this.#signalProgram(timeoutSeconds > 0 ? (this.#launch.stopSignal as NodeJS.Signals) : 'SIGKILL')
    const cancel = this.#clock.after(timeoutSeconds * 1000, () => this.kill())
    await this.ended
    cancel()
  }

  /** Kills the process and all processes of the container. */
  kill(): void {
    const { pid } = this.#state
    signalProcess(-pid, 'SIGKILL')
    for (const other of processesOf(this.#id, pid)) signalProcess(other, 'SIGKILL')
  }

  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  input(piece: Buffer): void {
    this.#child?.stdin?.write(piece)
  }

  /** Called when the attached client has ended its input. */
  inputEnds(): void {
    if (this.#launch.stdinOnce) this.#child?.stdin?.end()
  }

  resize(columns: number, rows: number): void {
    if (this.#launch.tty && this.#child?.pid !== undefined) setTerminalSize(this.#child.pid, columns, rows)
  }

  #heard(stream: 'stdout' | 'stderr', piece: Buffer): void {
    this.#log.write(stream, piece)
    for (const listener of this.#listeners) listener.output(stream, piece)
  }

  async #finish(exitCode: number, closed: Promise<unknown>, message = ''): Promise<void> {
    this.#placeholder.close()
    // As in a container, processes that it has left behind end with it.
    this.kill()
    let cancel = () => {}
    await Promise.race([closed, new Promise<void>((resolve) => (cancel = this.#clock.after(lastWordsMs, resolve)))])
    cancel()
    this.#log.close()
    this.#state = {
      ...this.#state,
      state: 'exited',
      exitCode,
      finishedAtMs: this.#clock.now(),
      reason: exitCode === 0 ? 'Completed' : 'Error',
      message,
    }
    await this.#save()
    for (const listener of this.#listeners) listener.ended(exitCode)
    this.#end()
  }

  #openPipes(): ReturnType<typeof openPipes> {
    try {
      return openPipes(this.#launch.directory, this.#launch.outputOwner)
    } catch (e) {
      return this.#failToStart((e as Error).message)
    }
  }

  #failToStart(message: string): never {
    this.#log.close()
    const nowMs = this.#clock.now()
    this.#state = {
      ...this.#state,
      state: 'exited',
      startedAtMs: nowMs,
      finishedAtMs: nowMs,
      exitCode: 128,
      reason: 'StartError',
      message,
    }
    void this.#save().then(() => this.#end())
    throw new Error(message)
  }

  #signalProgram(signal: NodeJS.Signals): void {
    const { pid } = this.#state
    if (this.#launch.hasNamespaces) {
      return void signalProcess(processesOfNamespace(pid).program, signal)
    }
    // With a terminal, the group is that of the process that holds it. The program's group is below.
    const children = this.#launch.tty ? allProcesses().filter((p) => p.parent === pid) : []
    if (children.length > 0) for (const child of children) signalProcess(-child.group, signal)
    else signalProcess(-pid, signal)
  }

  /** Resolves when the final state is stored: the agent reads it when it hears of the end. */
  async #save(): Promise<void> {
    for (;;) {
      const error = this.#tryToSave()
      // A removed directory is a removed container.
      if (!error || error.code === 'ENOENT') return
      await new Promise<void>((resolve) => this.#clock.after(saveAgainMs, resolve))
    }
  }

  #tryToSave(): NodeJS.ErrnoException | undefined {
    try {
      writeWhole(path.join(this.#launch.directory, stateFile), JSON.stringify(this.#state))
    } catch (e) {
      return e as NodeJS.ErrnoException
    }
  }
}

/** Resolves with undefined when the other side has reported that it is ready, else with its error. */
function reported(stream: Readable, staysOpen: boolean): Promise<string | undefined> {
  return new Promise((resolve) => {
    let text = ''
    // The process that waits for the namespace keeps the descriptor open, so its end is not the end of the report.
    stream.on('data', (piece: Buffer) => {
      text += piece.toString()
      if (staysOpen && text.includes('ready\n')) resolve(undefined)
    })
    stream.once('close', () =>
      resolve(text.startsWith('ready') ? undefined : text.trim() || 'failed to create the root directory'),
    )
  })
}
