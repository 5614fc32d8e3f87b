import path from 'node:path'
import { ControllerManager, selectControllers } from '../controllers/index.ts'
import { Scheduler } from '../scheduler/index.ts'
import type { UserInfo } from '../server/index.ts'
import { InProcessTransport } from './in-process-transport.ts'
import { type NodesOptions, makeNodes } from './run-node.ts'
import type { Part } from './run-part.ts'
import { type RunningApi, type ServeOptions, serveApi } from './serve-api.ts'
import { controllerManagerUser, nodeUser, schedulerUser } from './users.ts'

/** How many nodes there are, and what runs their pods. */
export type LocalNodes = Pick<NodesOptions, 'nodeName' | 'nodes' | 'runtime' | 'imageCatalogue'>

export type EverythingOptions = ServeOptions & LocalNodes

/**
 * Runs all parts in this process: the API server, and controllers, scheduler and nodes over transports without sockets. Resolves when a node is ready. There
 * is no election: the data directory belongs to this process alone.
 */
export async function runEverything(options: EverythingOptions): Promise<RunningApi> {
  const api = await serveApi(options)
  const transports: InProcessTransport[] = []
  const as = (user: UserInfo) => {
    const transport = new InProcessTransport(api.server, user)
    transports.push(transport)
    return transport
  }
  const parts = partsOf(options, api, as)
  const stop = async () => {
    // In turn, the last first: nodes say goodbye through the API.
    for (const { part } of parts.toReversed()) await part.stop()
    for (const transport of transports) await transport.close()
    await api.stop()
  }
  for (const { name, part } of parts) api.server.health.require({ name, check: () => part.problems().join('; ') || undefined })
  try {
    await Promise.all(parts.map(({ part }) => part.start()))
    await Promise.all(parts.map(({ part }) => part.roleKnown()))
  } catch (e) {
    await stop()
    throw e
  }
  return { ...api, stop }
}

function partsOf(options: EverythingOptions, { server, authority }: RunningApi, as: (user: UserInfo) => InProcessTransport): { name: string; part: Part }[] {
  const { gates, logger, dataDir, nodeName, nodes, runtime, imageCatalogue } = options
  const { metrics } = server
  const settings = { rootCa: authority, timeZone: new Intl.DateTimeFormat().resolvedOptions().timeZone, volumesDir: path.resolve(dataDir, 'volumes') }
  const controllers = [...selectControllers(['*'], settings).values()].flat()
  const local = { nodeName, nodes, runtime, dataDir: path.join(dataDir, 'node'), ...(imageCatalogue ? { imageCatalogue } : {}) }
  return [
    { name: 'controllers', part: new ControllerManager({ transport: as(controllerManagerUser), controllers, metrics, gates, logger }) },
    { name: 'scheduler', part: new Scheduler({ transport: as(schedulerUser), metrics, logger }) },
    { name: 'nodes', part: makeNodes({ ...local, transport: as(nodeUser(nodeName)), authority, gates, logger, metrics }) },
  ]
}
