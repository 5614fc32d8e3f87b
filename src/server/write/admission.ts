import { noOwners } from '../../api/managed-fields/index.ts'
import type { KubeObject } from '../../api/object.ts'
import type { AdmissionPlugin, AdmissionRequest } from '../admission/admission.ts'
import { RequestOrigin } from '../admission/dynamic/index.ts'
import type { DeleteOptions } from '../objects/objects.ts'
import type { ResourceRequest } from '../requests/request.ts'
import type { ConnectOptions } from '../subresources/action.ts'
import type { Write } from './write.ts'

type About = Pick<AdmissionRequest, 'operation' | 'object' | 'old' | 'dryRun' | 'name'>

/** The admission request of a resource request. */
function askedOf(
  request: ResourceRequest,
  { operation, object, old, dryRun, name }: About,
  deletion?: DeleteOptions,
): AdmissionRequest {
  const { server, target, subresource, namespace, user, warnings, note, rules } = request
  return {
    operation,
    object,
    old,
    dryRun,
    signal: () => request.signal(),
    turns: request.turns,
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
    origin: new RequestOrigin(request, operation, deletion),
  }
}

/** The admission request of a write. Plugins see the facade if the request is for one. */
function admissionRequest(
  { request, change, operation, sent, stored, old, owners }: Write,
  object: KubeObject | undefined,
): AdmissionRequest {
  const name = request.name || (sent?.metadata.name ?? '')
  const shown = old && change.facade ? change.facade.of(old) : old
  const asked = askedOf(request, { operation, object, old: shown, dryRun: change.dryRun, name }, change.deletion)
  if (!change.facade) asked.owners = { object: owners ?? stored?.owners ?? noOwners, old: stored?.owners ?? noOwners }
  return asked
}

/** Runs mutating admission. */
export function admitMutating(write: Write): Promise<void> | undefined {
  if (write.change.rules.isServersOwn) return undefined
  const asked = admissionRequest(write, write.sent)
  const { admission } = write.request.server
  const waiting = step(write, 'admit', () => admitAll(admission, asked))
  if (waiting) return waiting.then(() => adopt(write, asked))
  adopt(write, asked)
  return undefined
}

/** Continues with the object if a plugin has replaced it. */
function adopt(write: Write, { object }: AdmissionRequest): void {
  if (object === write.sent) return
  if (write.object === write.sent) write.object = object
  write.sent = object
}

/** Runs `admit` of all plugins, and a second time if a webhook or policy requested reinvocation. */
function admitAll(plugins: readonly AdmissionPlugin[], asked: AdmissionRequest): Promise<void> | undefined {
  const round = () => askAll(plugins, (plugin) => plugin.admit?.(asked))
  const waiting = round()
  if (waiting) return waiting.then(() => again(asked, round))
  return again(asked, round)
}

function again({ reinvocation }: AdmissionRequest, round: () => Promise<void> | undefined): Promise<void> | undefined {
  if (!reinvocation?.isWanted || reinvocation.isUnderWay) return undefined
  reinvocation.isUnderWay = true
  return round()
}

/** Runs validating admission. */
export function admitValidating(write: Write): Promise<void> | undefined {
  if (write.change.rules.isServersOwn) return undefined
  const asked = admissionRequest(write, judged(write))
  return step(write, 'validate', () => askAll(write.request.server.admission, (plugin) => plugin.validate?.(asked)))
}

function step(
  { request, operation }: Write,
  phase: 'admit' | 'validate',
  run: () => Promise<void> | undefined,
): Promise<void> | undefined {
  const { admissionMetrics } = request.server
  return admissionMetrics ? admissionMetrics.step(phase, operation, run) : run()
}

function validateAgain(write: Write): Promise<void> | undefined {
  const asked = admissionRequest(write, judged(write))
  asked.isRepeated = true
  return askAll(write.request.server.admission, (plugin) => (plugin.judgesOnce ? undefined : plugin.validate?.(asked)))
}

/** Calls all plugins in order. */
const askAll = (plugins: readonly AdmissionPlugin[], ask: (plugin: AdmissionPlugin) => Promise<void> | void) =>
  askFrom(plugins, 0, ask)

/** Calls plugins from `first` on. Returns a promise only if one of them does. */
function askFrom(
  plugins: readonly AdmissionPlugin[],
  first: number,
  ask: (plugin: AdmissionPlugin) => Promise<void> | void,
): Promise<void> | undefined {
  for (let i = first; i < plugins.length; i++) {
    const waiting = ask(plugins[i]!)
    if (waiting) return waiting.then(() => askFrom(plugins, i + 1, ask))
  }
  return undefined
}

/** The object after the write, in the form of the request: the facade if there is one. */
function judged({ change, operation, sent, object }: Write): KubeObject | undefined {
  if (operation === 'DELETE' || !object) return sent
  return change.facade ? change.facade.of(object) : object
}

/** Reserves quota. At most one plugin does that. */
export function reserve(write: Write): Promise<void> | undefined {
  const { request, change } = write
  if (change.rules.isServersOwn || change.action || write.operation === 'DELETE') return undefined
  const plugin = request.server.admission.find((p) => p.reserve)
  const waiting = plugin?.reserve!(admissionRequest(write, judged(write)), request.server.access)
  if (!waiting) return undefined
  return waiting.then((reservation) => {
    if (reservation) write.held.push(reservation)
    // Objects may have changed during the wait, so admission validates again; the write follows without another await.
    return validateAgain(write)
  })
}

/** Runs admission for a connection. Nothing is written, so changes by mutating plugins have no effect. */
export function admitConnection(request: ResourceRequest, options: ConnectOptions): Promise<void> | undefined {
  const plugins = request.server.admission.filter(({ handlesConnect }) => handlesConnect)
  const object = { apiVersion: 'v1', ...options } as unknown as KubeObject
  const asked = askedOf(request, { operation: 'CONNECT', object, old: undefined, dryRun: false, name: request.name })
  const { admissionMetrics: metrics } = request.server
  const validate = () => askAll(plugins, (plugin) => plugin.validate?.(asked))
  const admit = () => admitAll(plugins, asked)
  const judge = () => (metrics ? metrics.step('validate', 'CONNECT', validate) : validate())
  const waiting = metrics ? metrics.step('admit', 'CONNECT', admit) : admit()
  return waiting ? waiting.then(judge) : judge()
}
