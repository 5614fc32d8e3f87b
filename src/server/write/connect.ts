import type { KubeObject } from '../../api/object.ts'
import type { AdmissionRequest } from '../admission/admission.ts'
import { RequestOrigin } from '../admission/dynamic/index.ts'
import type { ResourceRequest } from '../requests/request.ts'
import { admitAll, askAll } from './admission.ts'

/** The options of a connection, in the place of an object: PodExecOptions, ServiceProxyOptions. They have no metadata. */
export type ConnectOptions = { kind: string; [option: string]: unknown }

/** Asks the plugins that judge connections: nothing is written, and what they would change is not taken over. */
export function admitConnection(request: ResourceRequest, options: ConnectOptions): Promise<void> | undefined {
  const { server, target, namespace, name, subresource, user, warnings, note, rules } = request
  const plugins = server.admission.filter(({ handlesConnect }) => handlesConnect)
  const asked: AdmissionRequest = {
    operation: 'CONNECT',
    object: { apiVersion: 'v1', ...options } as unknown as KubeObject,
    old: undefined,
    dryRun: false,
    resource: target.resource,
    subresource,
    namespace,
    name,
    user,
    warnings,
    note,
    reader: server.access,
    now: rules.now,
    objects: server.access,
    clock: server.clock,
    origin: new RequestOrigin(request, 'CONNECT'),
  }
  const judge = () => askAll(plugins, (plugin) => plugin.validate?.(asked))
  const waiting = admitAll(plugins, asked)
  return waiting ? waiting.then(judge) : judge()
}
