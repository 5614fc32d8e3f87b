import type { KubeObject } from '../../api/object.ts'
import type { AdmissionPlugin, AdmissionRequest } from '../admission/admission.ts'
import { RequestOrigin } from '../admission/dynamic/index.ts'
import type { DeleteOptions } from '../objects/objects.ts'
import type { ResourceRequest } from '../requests/request.ts'
import type { Write } from './write.ts'

type About = Pick<AdmissionRequest, 'operation' | 'object' | 'old' | 'dryRun' | 'name'>

/** The question to plugins about a request. */
export function askedOf(request: ResourceRequest, { operation, object, old, dryRun, name }: About, deletion?: DeleteOptions): AdmissionRequest {
  const { server, target, subresource, namespace, user, warnings, note, rules } = request
  return {
    operation,
    object,
    old,
    dryRun,
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

/** What plugins are asked: about the facade, where the request is about one. */
function admissionRequest({ request, change, operation, sent, old }: Write, object: KubeObject | undefined): AdmissionRequest {
  const name = request.name || (sent?.metadata.name ?? '')
  const shown = old && change.facade ? change.facade.of(old) : old
  return askedOf(request, { operation, object, old: shown, dryRun: change.dryRun, name }, change.deletion)
}

/** Lets every plugin see, and change, what was sent before it is judged. */
export function admitMutating(write: Write): Promise<void> | undefined {
  if (write.change.rules.isServersOwn) return undefined
  const asked = admissionRequest(write, write.sent)
  const waiting = admitAll(write.request.server.admission, asked)
  if (waiting) return waiting.then(() => adopt(write, asked))
  adopt(write, asked)
  return undefined
}

/** Goes on with the object that a plugin has put in the place of the one that was sent. */
function adopt(write: Write, { object }: AdmissionRequest): void {
  if (object === write.sent) return
  if (write.object === write.sent) write.object = object
  write.sent = object
}

/** Asks all plugins, a second time where one of them has changed what those before it have seen. */
export function admitAll(plugins: readonly AdmissionPlugin[], asked: AdmissionRequest): Promise<void> | undefined {
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

/** Lets every plugin refuse what is otherwise fine. */
export function admitValidating(write: Write): Promise<void> | undefined {
  if (write.change.rules.isServersOwn) return undefined
  const asked = admissionRequest(write, judged(write))
  return askAll(write.request.server.admission, (plugin) => plugin.validate?.(asked))
}

function validateAgain(write: Write): Promise<void> | undefined {
  const asked = admissionRequest(write, judged(write))
  asked.isRepeated = true
  return askAll(write.request.server.admission, (plugin) => (plugin.judgesOnce ? undefined : plugin.validate?.(asked)))
}

/** Asks all plugins, in their order. */
export const askAll = (plugins: readonly AdmissionPlugin[], ask: (plugin: AdmissionPlugin) => Promise<void> | void) => askFrom(plugins, 0, ask)

/** Asks one plugin after the other. Nothing is waited for where none of them waits. */
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

/** The object as it is going to be, in the form in which it was asked for. */
function judged({ change, operation, sent, object }: Write): KubeObject | undefined {
  if (operation === 'DELETE' || !object) return sent
  return change.facade ? change.facade.of(object) : object
}

/** Takes what the write will use of something that is limited. One plugin at most does that. */
export function reserve(write: Write): Promise<void> | undefined {
  const { request, change } = write
  if (change.rules.isServersOwn || change.action || write.operation === 'DELETE') return undefined
  const plugin = request.server.admission.find((p) => p.reserve)
  const waiting = plugin?.reserve!(admissionRequest(write, judged(write)), request.server.access)
  if (!waiting) return undefined
  return waiting.then((reservation) => {
    if (reservation) write.held.push(reservation)
    // Time has passed: what was fine before the wait must be so after it, as the write follows at once.
    return validateAgain(write)
  })
}
