import { randomBytes } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/logger.ts'
import type { Random } from '../base/random.ts'
import type { ClusterAccess, Transport } from '../client/index.ts'
import { openDoor } from './door.ts'
import { Sessions } from './login/sessions.ts'
import type { App } from './app.ts'

export interface DashboardOptions {
  /** Finds the identity of whoever opens the printed link, when it is first needed. */
  access(): Promise<ClusterAccess>
  /** Reads for all viewers. What each of them is shown of it, their own identity decides. */
  transport: Transport
  /** The namespace that is shown; '' for all. */
  namespace: string
  /** Taken if it is free; otherwise, and for 0, any port. */
  port: number
  clock: Clock
  random: Random
  logger: Logger
  release: string
}

export interface RunningDashboard {
  /** `http://127.0.0.1:9465/` */
  url: string
  /** An address that logs a browser in, once. The link before it is void. */
  link(): string
  close(): Promise<void>
}

/** Serves the dashboard on the loopback interface. Until the first request it costs one listening socket. */
export async function openDashboard(options: DashboardOptions): Promise<RunningDashboard> {
  const { access, clock, random, release } = options
  let app: Promise<App> | undefined
  const sessions = new Sessions(access, clock, async (as) => (await import('./login/viewer.ts')).Viewer.of(as, clock, random, release))
  // Cookies are shared by all ports of a host: two dashboards would end each other's sessions.
  const cookie = `coxswain-${randomBytes(4).toString('hex')}`
  const door = await openDoor(options.port, () => (app ??= import('./app.ts').then(({ App }) => new App(options, sessions, cookie))))
  const url = `http://127.0.0.1:${door.port}/`
  return {
    url,
    link: () => `${url}open?key=${sessions.newKey()}`,
    async close() {
      await (await app)?.close()
      await door.close()
      await sessions.closeAll()
    },
  }
}
