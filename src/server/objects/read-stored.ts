import { createHash } from 'node:crypto'
import type { FeatureGates } from '../../api/feature-gates.ts'
import type { Json, KubeObject } from '../../api/object.ts'
import type { Logger } from '../../base/logger.ts'
import type { Registered } from '../registry/registry.ts'
import type { RuleContext } from '../registry/resource.ts'
import { type ReadValue, parseObject } from './stored-object.ts'

/** Set by scripts/build.mjs to a digest of the sources. Not there in a program that runs from its sources. */
declare const BUILD: string | undefined

/** Names the sources that this program was built from. */
export const ownBuild = typeof BUILD === 'undefined' ? undefined : BUILD

/**
 * The mark of versions that a build writes with these gates: 24 bits of a digest. Versions with the same mark need not
 * be read anew. The marks of two programs are the same by chance once in 16 million times; then neither reads the
 * other's anew.
 */
export function writerMark(build: string | undefined, gates: FeatureGates): number | undefined {
  if (build === undefined) return undefined
  const settings = gates.all().map(({ name, enabled }) => `${name}=${enabled}`)
  return createHash('sha256').update([build, ...settings].join()).digest().readUIntBE(0, 3) || 1
}

/**
 * Makes the readers of objects that another program has stored: an older release, or this one with other feature gates.
 * Objects are decoded and defaulted as a request's body is. A field that is newer than the object has its default from
 * the start, and the next update does not seem to add it. Nothing is written for that.
 */
export function storedReader(rules: () => RuleContext, logger: Logger): (place: Registered) => ReadValue {
  return ({ type, apiVersion, resource }) => (value) => {
    try {
      const found = parseObject(value)
      if (resource.conversion && found.apiVersion !== apiVersion) return resource.conversion.readOther(found)
      const { object } = type.decode(found as unknown as Json, { isOwned: true })
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
