import { isAlreadyExists } from '../../api/errors.ts'
import { cloneObject } from '../../api/json/index.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Logger } from '../../base/logger.ts'
import type { Registered } from '../registry/registry.ts'
import { bootstrapObjects } from './bootstrap-objects.ts'
import { storedServiceRange } from './service-range.ts'
import type { ServerParts } from '../requests/request.ts'
import { systemRequest } from '../requests/system-request.ts'
import { createObject } from '../verbs/create.ts'

/** Created first: other objects need namespaces, and the Service `kubernetes` an address of the range. */
const firstKinds = ['Namespace', 'ServiceCIDR']

/** Creates missing bootstrap objects. `range` applies to a cluster without a range of cluster IPs. */
export async function bootstrap(parts: ServerParts, range?: string): Promise<void> {
  const isFirst = ({ kind = '' }: KubeObject) => firstKinds.includes(kind)
  await ensureObjects(parts, bootstrapObjects(range).filter(isFirst))
  await ensureObjects(
    parts,
    bootstrapObjects(storedServiceRange(parts.access)).filter((object) => !isFirst(object)),
  )
}

/** The delay before deleted objects are created again, so that a bulk deletion ends first. */
const remakeMs = 1000
/** The delay before a failed creation is retried. */
const retryMs = 10_000

/** Recreates bootstrap objects that are deleted. The returned function stops this. */
export function keepBootstrapObjects(parts: ServerParts, logger: Logger): () => void {
  let isEnded = false
  let cancel: (() => void) | undefined
  const remakeAfter = (delayMs: number) => {
    if (!isEnded) cancel ??= parts.clock.after(delayMs, remake)
  }
  const remake = () => {
    cancel = undefined
    bootstrap(parts).catch((error: unknown) => {
      logger.warn('failed to restore a default object of the cluster', { error })
      remakeAfter(retryMs)
    })
  }
  const objects = bootstrapObjects()
  const kept = new Set(objects.map((object) => keyOf(targetOf(parts, object), object.metadata)))
  for (const target of new Set(objects.map((object) => targetOf(parts, object)))) {
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

/** Creates missing objects concurrently: the store commits them in one or two transactions. */
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
    // Another server on the same store may be starting too. Its object has the address that this one requests.
    if (isAlreadyExists(e)) return
    await parts.objects.catchUp()
    if (!parts.objects.get(target, namespace, name)) throw e
  }
}

const targetOf = ({ registry }: ServerParts, { apiVersion, kind }: KubeObject): Registered =>
  registry.all().find((r) => r.apiVersion === apiVersion && r.resource.kind === kind)!
