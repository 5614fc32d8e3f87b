import { TlsClient } from '../e2e/tls-client.ts'
import { type RunningServer, startServer } from '../kubectl/coxswain.ts'

/** One of several API servers on the same etcd, which can be killed, stopped and started again. */
export class ApiReplica {
  readonly #dir: string
  readonly #flags: readonly string[]
  #running: RunningServer | undefined
  #kubeconfig = ''

  constructor(dir: string, port: number, etcd: readonly string[]) {
    this.#dir = dir
    this.#flags = ['--store', 'etcd', '--etcd-servers', etcd.join(','), '--secure-port', String(port), '--log-level', 'error']
  }

  get kubeconfig(): string {
    return this.#kubeconfig
  }

  /** A server that cannot reach etcd when it starts ends: it is started again, for a minute at most. */
  async start(): Promise<void> {
    const endMs = Date.now() + 60_000
    while (!this.#running) {
      try {
        this.#running = await startServer(this.#dir, this.#flags)
        this.#kubeconfig = this.#running.kubeconfig
      } catch (e) {
        if (Date.now() > endMs) throw e
      }
    }
    this.resume()
  }

  async kill(): Promise<void> {
    const running = this.#running
    this.#running = undefined
    await running?.stop('SIGKILL')
  }

  pause(): void {
    if (this.#running) process.kill(this.#running.pid, 'SIGSTOP')
  }

  resume(): void {
    if (this.#running) process.kill(this.#running.pid, 'SIGCONT')
  }

  /** Resolves once a read without a version is answered, which takes a quorum; for 30 seconds at most. */
  async untilAnswering(path: string): Promise<void> {
    const client = new TlsClient(this.#kubeconfig, 1, 3000)
    const endMs = Date.now() + 30_000
    for (;;) {
      const code = await client.http1({ path }).then((answer) => answer.code, (e: Error) => e.message)
      if (code === 200) return client.close()
      if (Date.now() > endMs) throw new Error(`the server does not answer: ${code}`)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}
