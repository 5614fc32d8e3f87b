import type { Logger } from '../base/logger.ts'
import type { Json, KubeObject } from '../api/object.ts'
import { decodeObject } from '../api/schema/index.ts'
import type { Registered } from './registry.ts'
import type { RuleContext } from './resource.ts'
import { type ReadValue, parseObject } from './stored-object.ts'

/**
 * Makes the readers of objects that another process has stored: an older release, or this one with other feature gates.
 * Objects are decoded and defaulted as a request's body is. A field that is newer than the object has its default from
 * the start, and the next update does not seem to add it. Nothing is written for that.
 */
export function storedReader(rules: () => RuleContext, logger: Logger): (place: Registered) => ReadValue {
  return ({ type, apiVersion, resource }) => (value) => {
    try {
      const { object } = decodeObject(type, parseObject(value) as unknown as Json, { isOwned: true })
      const decoded = Object.assign(object as unknown as KubeObject, { apiVersion, kind: resource.kind })
      resource.defaults?.(decoded, rules())
      return decoded
    } catch (error) {
      const stored = parseObject(value)
      const { namespace, name } = stored.metadata
      // A list must not fail because of one object. An update of it will be told what is wrong.
      const about = { kind: resource.kind, namespace, name, error }
      logger.warn('a stored object does not fit its kind and is served as it is', about)
      return stored
    }
  }
}
