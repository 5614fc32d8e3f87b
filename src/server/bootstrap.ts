import { isAlreadyExists } from '../api/errors.ts'
import { cloneObject } from '../api/json/index.ts'
import { bootstrapObjects } from './bootstrap-objects.ts'
import type { ServerParts } from './request.ts'
import { systemRequest } from './system-request.ts'
import { createObject } from './verbs/create.ts'

/** Makes the objects that every cluster has, where they are missing. */
export async function bootstrap(parts: ServerParts): Promise<void> {
  for (const object of bootstrapObjects) {
    const target = parts.registry.all().find((r) => r.apiVersion === object.apiVersion && r.resource.kind === object.kind)!
    const { namespace = '', name = '' } = object.metadata
    if (parts.objects.get(target, namespace, name)) continue
    try {
      await createObject(systemRequest(parts, target, namespace, ''), cloneObject(object), false)
    } catch (e) {
      // Another server on the same store may be starting, too.
      if (!isAlreadyExists(e)) throw e
    }
  }
}
