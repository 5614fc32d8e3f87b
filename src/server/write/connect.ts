import type { KubeObject } from '../../api/object.ts'
import type { ResourceRequest } from '../requests/request.ts'
import { admitAll, askAll, askedOf } from './admission.ts'

/** The options of a connection, in the place of an object: PodExecOptions, ServiceProxyOptions. They have no metadata. */
export type ConnectOptions = { kind: string; [option: string]: unknown }

/** Asks the plugins that judge connections: nothing is written, and what they would change is not taken over. */
export function admitConnection(request: ResourceRequest, options: ConnectOptions): Promise<void> | undefined {
  const plugins = request.server.admission.filter(({ handlesConnect }) => handlesConnect)
  const object = { apiVersion: 'v1', ...options } as unknown as KubeObject
  const asked = askedOf(request, { operation: 'CONNECT', object, old: undefined, dryRun: false, name: request.name })
  const judge = () => askAll(plugins, (plugin) => plugin.validate?.(asked))
  const waiting = admitAll(plugins, asked)
  return waiting ? waiting.then(judge) : judge()
}
