import path from 'node:path'
import { ControllerManager, selectControllers } from '../controllers/index.ts'
import { InProcessTransport } from './in-process-transport.ts'
import { type RunningApi, type ServeOptions, serveApi } from './serve-api.ts'
import { controllerManagerUser } from './users.ts'

/** Runs all parts in this process: the API server, and the controllers over a transport without sockets. */
export async function runEverything(options: ServeOptions): Promise<RunningApi> {
  const api = await serveApi(options)
  const { gates, logger } = options
  const transport = new InProcessTransport(api.server, controllerManagerUser)
  const selected = selectControllers(['*'], {
    rootCa: api.authority,
    timeZone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
    volumesDir: path.resolve(options.dataDir, 'volumes'),
  })
  // No election: the data directory belongs to this process alone.
  const manager = new ControllerManager({ transport, controllers: [...selected.values()].flat(), metrics: api.server.metrics, gates, logger })
  const stop = async () => {
    await manager.stop()
    await transport.close()
    await api.stop()
  }
  api.server.health.require({ name: 'controllers', check: () => manager.problems().join('; ') || undefined })
  try {
    await manager.start()
  } catch (e) {
    await stop()
    throw e
  }
  return { ...api, stop }
}
