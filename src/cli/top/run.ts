import { Client, type ClusterAccess, HttpTransport, fixedCredentials } from '../../client/index.ts'
import { CommandError, exitCodes } from '../../insight/failure.ts'
import { type Session, say } from '../session.ts'
import { type DocumentForm, writeDocument } from '../terminal/document.ts'
import { cutLine, painted } from '../terminal/line.ts'
import { LiveView } from '../terminal/live.ts'
import { Bell, checkUntil } from '../workload/follow.ts'
import { type CacheLag, type ControllerLoad, cachesOf, controllersOf } from '../../insight/metrics/controllers.ts'
import { controllersTable } from './controllers-table.ts'
import { parseMetrics } from '../../insight/metrics/parse.ts'

export interface TopOptions {
  /** URL of the controllers' metrics. Default: the API server of the kubeconfig, which runs the controllers itself. */
  metricsUrl: URL | undefined
  watch: boolean
  form: DocumentForm | undefined
}

const everyMs = 2000

/**
 * Standalone controllers have a self-signed certificate and serve all clients. The credentials of the kubeconfig must
 * not be sent to them.
 */
const openAccess = (server: URL): ClusterAccess => ({
  server,
  authority: () => undefined,
  insecureSkipTlsVerify: true,
  headers: {},
  credentials: fixedCredentials(),
  namespace: 'default',
})

/** Returns a client for controllers at this URL. */
export const clientAt = (url: URL): Pick<Session, 'client' | 'namespace'> => ({
  client: new Client(new HttpTransport(openAccess(new URL('/', url)))),
  namespace: '',
})

/** `coxswain top controllers`: the lag of the controllers of a process. */
export async function runTopControllers(session: Session, { metricsUrl, watch, form }: TopOptions): Promise<number> {
  const read = () => readLoad(session.client, metricsUrl)
  if (watch && !form) return watchLoad(session, read)
  const { controllers, caches } = await read()
  const list = { apiVersion: 'coxswain.dev/v1', kind: 'ControllerLoadList', items: controllers, caches }
  if (form) await writeDocument(session.out, form, list)
  else print(session, controllers, caches)
  return exitCodes.ok
}

interface Load {
  controllers: ControllerLoad[]
  caches: CacheLag[]
}

async function readLoad({ transport }: Client, metricsUrl: URL | undefined): Promise<Load> {
  const path = metricsUrl && metricsUrl.pathname !== '/' ? metricsUrl.pathname : '/metrics'
  const samples = parseMetrics(await transport.send<string>({ method: 'GET', path, accept: 'text/plain' }))
  const controllers = controllersOf(samples)
  if (controllers.length > 0 && (metricsUrl || samples.has('controller_runtime_reconcile_total')))
    return { controllers, caches: cachesOf(samples) }
  const hint = metricsUrl
    ? 'is it the address of controllers?'
    : 'it runs none itself; use --metrics-url to name their /metrics'
  throw new CommandError(`${metricsUrl?.origin ?? 'the API server'} has no metrics of controllers: ${hint}`)
}

function print({ out }: Session, controllers: readonly ControllerLoad[], caches: readonly CacheLag[]): void {
  const width = out.isTerminal ? out.columns : Infinity
  for (const line of controllersTable(controllers, caches))
    say(out, painted(cutLine(line, width), out.hasColour).trimEnd())
}

async function watchLoad(session: Session, read: () => Promise<Load>): Promise<number> {
  const view = session.out.isTerminal ? new LiveView(session.out) : undefined
  try {
    return await checkUntil<number>(
      session,
      new Bell(),
      () => everyMs,
      async () => {
        const { controllers, caches } = await read()
        if (view) view.draw(controllersTable(controllers, caches))
        else print(session, controllers, caches)
        return undefined
      },
    )
  } finally {
    view?.close()
  }
}
