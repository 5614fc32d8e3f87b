import { isAlreadyExists } from '../../api/errors.ts'
import { cloneObject } from '../../api/json/index.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Logger } from '../../base/logger.ts'
import type { Registered } from '../registry/registry.ts'
import { bootstrapObjects } from './bootstrap-objects.ts'
import type { ServerParts } from '../requests/request.ts'
import { systemRequest } from '../requests/system-request.ts'
import { createObject } from '../verbs/create.ts'

/** Others need these: objects live in namespaces, and the service of this server has an address of the range. */
const firstKinds = ['Namespace', 'ServiceCIDR']

/** Makes the objects that every cluster has, where they are missing. */
export async function bootstrap(parts: ServerParts): Promise<void> {
  const isFirst = ({ kind = '' }: KubeObject) => firstKinds.includes(kind)
  await ensureObjects(parts, bootstrapObjects.filter(isFirst))
  await ensureObjects(parts, bootstrapObjects.filter((object) => !isFirst(object)))
}

/** How long until what somebody has deleted is made again: whoever deletes many things deletes them all first. */
const remakeMs = 1000
/** How long until what could not be made is tried again. */
const retryMs = 10_000

/** Makes what every cluster has again where it is deleted, from now on. The function that comes back ends that. */
export function keepBootstrapObjects(parts: ServerParts, logger: Logger): () => void {
  let isEnded = false
  let cancel: (() => void) | undefined
  const remakeAfter = (delayMs: number) => {
    if (!isEnded) cancel ??= parts.clock.after(delayMs, remake)
  }
  const remake = () => {
    cancel = undefined
    bootstrap(parts).catch((error: unknown) => {
      logger.warn('an object that every cluster has could not be made again', { error })
      remakeAfter(retryMs)
    })
  }
  const kept = new Set(bootstrapObjects.map((object) => keyOf(targetOf(parts, object), object.metadata)))
  for (const target of new Set(bootstrapObjects.map((object) => targetOf(parts, object)))) {
    parts.access.follow(target.resource.group, target.resource.plural, (change) => {
      if (!change.object() && kept.has(keyOf(target, change))) remakeAfter(remakeMs)
    })
  }
  return () => {
    isEnded = true
    cancel?.()
  }
}

const keyOf = ({ prefix }: Registered, { namespace = '', name = '' }: { namespace?: string; name?: string }): string =>
  `${prefix}${namespace}/${name}`

/** Makes objects that are missing, all at once: the store writes them in one or two transactions. */
export async function ensureObjects(parts: ServerParts, objects: readonly KubeObject[]): Promise<void> {
  await Promise.all(objects.map((object) => ensureObject(parts, object)))
}

async function ensureObject(parts: ServerParts, object: KubeObject): Promise<void> {
  const target = targetOf(parts, object)
  const { namespace = '', name = '' } = object.metadata
  if (parts.objects.get(target, namespace, name)) return
  try {
    await createObject(systemRequest(parts, target, namespace, ''), cloneObject(object), false)
  } catch (e) {
    // Another server on the same store may be starting, too.
    if (!isAlreadyExists(e)) throw e
  }
}

const targetOf = ({ registry }: ServerParts, { apiVersion, kind }: KubeObject): Registered =>
  registry.all().find((r) => r.apiVersion === apiVersion && r.resource.kind === kind)!
