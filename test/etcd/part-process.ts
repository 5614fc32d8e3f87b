import { type Started, startCoxswain } from '../kubectl/coxswain.ts'

/**
 * A part of the control plane as a process, which can be killed, stopped and started again. Nobody waits until it is
 * ready: that takes an API server.
 */
export class PartProcess {
  readonly name: string
  /** It ended by itself, which it never should. */
  readonly problems: string[] = []
  readonly #args: readonly string[]
  #running: Started | undefined

  constructor(name: string, args: readonly string[]) {
    this.name = name
    this.#args = args
  }

  start(): void {
    if (this.#running) return this.resume()
    const started = startCoxswain(this.#args)
    this.#running = started
    void started.ended.then(({ code, err }) => {
      if (this.#running === started) this.problems.push(`${this.name} ended with ${code}: ${err.trim().slice(-500)}`)
    })
  }

  async kill(): Promise<void> {
    const running = this.#running
    this.#running = undefined
    running?.child.kill('SIGKILL')
    await running?.ended
  }

  pause(): void {
    this.#running?.child.kill('SIGSTOP')
  }

  resume(): void {
    this.#running?.child.kill('SIGCONT')
  }
}
