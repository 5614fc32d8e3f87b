import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { listen } from '../../../base/listen.ts'
import type { MetricsRegistry } from '../../../base/metrics.ts'
import type { ControllerManager } from './manager.ts'

export interface MonitoringServerOptions {
  /** The manager whose role and problems are reported. */
  manager: Pick<ControllerManager, 'role' | 'problems'>
  metrics: MetricsRegistry
  /** Default: 8080. 0 selects a free port. */
  port?: number
  /** Default: 127.0.0.1. A pod that a kubelet probes uses 0.0.0.0. */
  address?: string
}

export interface MonitoringServer {
  readonly url: string
  close(): Promise<void>
}

/**
 * Serves /livez, /readyz and /metrics of an operator over HTTP. The operator is ready while its caches are current, or
 * another process leads.
 */
export async function serveMonitoring({
  manager,
  metrics,
  port = 8080,
  address = '127.0.0.1',
}: MonitoringServerOptions): Promise<MonitoringServer> {
  const pages: Record<string, () => { code: number; body: string }> = {
    '/livez': () => ({ code: 200, body: 'ok' }),
    '/healthz': () => ({ code: 200, body: 'ok' }),
    '/readyz': () => readiness(manager),
    '/metrics': () => ({ code: 200, body: metrics.text() }),
  }
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?', 1)[0]!
    const page = Object.hasOwn(pages, path) ? pages[path]!() : { code: 404, body: 'not found\n' }
    const { code, body } =
      request.method === 'GET' || request.method === 'HEAD' ? page : { code: 405, body: 'method not allowed\n' }
    const type = path === '/metrics' ? 'text/plain; version=0.0.4; charset=utf-8' : 'text/plain; charset=utf-8'
    response
      .writeHead(code, { 'content-type': type, 'x-content-type-options': 'nosniff' })
      .end(request.method === 'HEAD' ? undefined : body)
  })
  await listen(server, { port, host: address })
  const { port: taken, family } = server.address() as AddressInfo
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function readiness(manager: MonitoringServerOptions['manager']): { code: number; body: string } {
  const found = manager.problems()
  if (manager.role.kind === 'unknown' && found.length === 0) found.push('not running yet, and no other process leads')
  return found.length
    ? { code: 500, body: `${found.map((problem) => `[-]${problem}`).join('\n')}\n` }
    : { code: 200, body: 'ok' }
}
