import { randomBytes } from 'node:crypto'
import { openDoor } from './door.ts'
import { Sessions } from './login/sessions.ts'
import type { App, DashboardOptions } from './app.ts'

export type { DashboardOptions }

export interface RunningDashboard {
  /** `http://127.0.0.1:9465/` */
  url: string
  /** Returns a URL that logs a browser in once. The previous one becomes invalid. */
  link(): string
  close(): Promise<void>
}

/** Serves the dashboard on the loopback interface. Until the first request it only costs a listening socket. */
export async function openDashboard(options: DashboardOptions): Promise<RunningDashboard> {
  const { access, clock, random, release } = options
  let app: Promise<App> | undefined
  const sessions = new Sessions(access, clock, async (as) =>
    (await import('./login/viewer.ts')).Viewer.of(as, clock, random, release),
  )
  // Cookies are shared by all ports of a host: two dashboards with one name would end each other's sessions.
  const cookie = `coxswain-${randomBytes(4).toString('hex')}`
  const door = await openDoor(
    options.port,
    () => (app ??= import('./app.ts').then(({ App }) => new App(options, sessions, cookie))),
  )
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
