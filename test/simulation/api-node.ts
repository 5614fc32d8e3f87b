import { FeatureGates } from '../../src/api/feature-gates.ts'
import { Logger } from '../../src/base/logger.ts'
import type { SeededRandom } from '../../src/base/seeded-random.ts'
import { type Transport, TransportError } from '../../src/client/index.ts'
import { InProcessTransport } from '../../src/cluster/parts/in-process-transport.ts'
import { ApiServer, Authenticator, admissionPlugins } from '../../src/server/index.ts'
import type { Store } from '../../src/store/index.ts'
import { LaggingStore } from '../lagging-store.ts'
import { type DiskOptions, Mount } from './disk.ts'
import type { History } from './history.ts'
import { Process } from './process.ts'
import type { ServerLag } from './server-lag.ts'

/** A client's connection to one life of the server. */
export interface Connection {
  process: Process
  transport: Transport
  /** Calls `cut` when the server dies. The returned function cancels this. */
  whenCut(cut: (error: TransportError) => void): () => void
}

interface Life {
  process: Process
  server: ApiServer
  transport: Transport
  cuts: Set<(error: TransportError) => void>
}

export interface ApiNodeOptions extends DiskOptions {
  store: Store
  random: SeededRandom
  history: History
  /** Default: server. */
  name?: string
  /** The delay of other servers' writes at this server. Default: there are no other servers. */
  lag?: ServerLag
  /** The server logged an error about itself. */
  onError(line: string): void
}

const user = { name: 'system:admin', groups: ['system:masters', 'system:authenticated'] }

/** The API server as a process that can die and restart: the disk remains, everything else is lost. */
export class ApiNode {
  readonly #options: ApiNodeOptions
  #life: Life | undefined
  #lives = 0

  constructor(options: ApiNodeOptions) {
    this.#options = options
  }

  get isUp(): boolean {
    return this.#life !== undefined
  }

  get process(): Process | undefined {
    return this.#life?.process
  }

  /** Undefined while the server is down. */
  connect(): Connection | undefined {
    const life = this.#life
    if (!life) return undefined
    return {
      process: life.process,
      transport: life.transport,
      whenCut: (cut) => {
        life.cuts.add(cut)
        return () => life.cuts.delete(cut)
      },
    }
  }

  async start(): Promise<void> {
    if (this.#life) return
    const { store, lag, name = 'server', random, timeline, history, onError } = this.#options
    const number = ++this.#lives
    const process = new Process(name, timeline)
    const view = lag && (await LaggingStore.open(store, lag.arrivalAt(process)))
    if (view) process.onDeath(() => void view.close())
    const server = await ApiServer.open({
      store: new Mount(view ?? store, process, this.#options),
      gates: FeatureGates.of(),
      authenticator: new Authenticator(new Map()),
      admission: admissionPlugins,
      clock: process.clock,
      random: random.fork(`server ${number}`),
      logger: new Logger(onError, 'error', {}, () => process.clock.now()),
      release: '0.0.0-simulation',
      freezesObjects: true,
      address: '127.0.0.1:6443',
    })
    this.#life = { process, server, transport: new InProcessTransport(server, user), cuts: new Set() }
    history.add(name, `is up, at revision ${store.revision}`)
  }

  crash(): void {
    const life = this.#life
    if (!life) return
    this.#life = undefined
    this.#options.history.add(life.process.name, 'crashes')
    life.process.kill()
    life.server.close()
    for (const cut of life.cuts) cut(new TransportError('the connection was reset', false))
  }
}
