import { createHash } from 'node:crypto'
import type { FeatureGates } from '../../api/feature-gates.ts'
import type { Json, KubeObject } from '../../api/object.ts'
import type { Logger } from '../../base/logger.ts'
import type { Registered } from '../registry/registry.ts'
import type { RuleContext } from '../registry/resource.ts'
import { type ReadValue, parseObject } from './stored-object.ts'

/** Set by scripts/build.mjs to a digest of the sources. Undefined when running from sources. */
declare const BUILD: string | undefined

/** The digest of the sources of this build. */
export const ownBuild = typeof BUILD === 'undefined' ? undefined : BUILD

/**
 * The mark of versions that this build writes with these gates: a 24-bit digest. Versions with the same mark are not
 * decoded again. Two different programs have the same mark with a probability of 1 in 16 million; neither upgrades the
 * other's objects then.
 */
export function writerMark(build: string | undefined, gates: FeatureGates): number | undefined {
  if (build === undefined) return undefined
  const settings = gates.all().map(({ name, enabled }) => `${name}=${enabled}`)
  return (
    createHash('sha256')
      .update([build, ...settings].join())
      .digest()
      .readUIntBE(0, 3) || 1
  )
}

/**
 * Creates decoders of objects that another release stored, or this one with other gates. Objects are decoded and
 * defaulted like a request body, so that a newer field has its default from the start and the next update does not
 * appear to add it. Nothing is written.
 */
export function storedReader(rules: () => RuleContext, logger: Logger): (place: Registered) => ReadValue {
  return ({ type, apiVersion, resource }) =>
    (value) => {
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
        // One invalid object must not fail a list. The next update of it reports the error.
        const about = { kind: resource.kind, namespace, name, error }
        logger.warn('a stored object does not match its schema; serving it unchanged', about)
        return stored
      }
    }
}
