import { isAlreadyExists } from '../../api/errors.ts'
import { cloneObject } from '../../api/json/index.ts'
import type { KubeObject } from '../../api/object.ts'
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

/** Makes objects that are missing, all at once: the store writes them in one or two transactions. */
export async function ensureObjects(parts: ServerParts, objects: readonly KubeObject[]): Promise<void> {
  await Promise.all(objects.map((object) => ensureObject(parts, object)))
}

async function ensureObject(parts: ServerParts, object: KubeObject): Promise<void> {
  const target = parts.registry.all().find((r) => r.apiVersion === object.apiVersion && r.resource.kind === object.kind)!
  const { namespace = '', name = '' } = object.metadata
  if (parts.objects.get(target, namespace, name)) return
  try {
    await createObject(systemRequest(parts, target, namespace, ''), cloneObject(object), false)
  } catch (e) {
    // Another server on the same store may be starting, too.
    if (!isAlreadyExists(e)) throw e
  }
}
