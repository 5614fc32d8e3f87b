import { type GroupKind, type GroupResource } from '../../api/errors.ts'
import type { Registered } from '../registry/registry.ts'

/** A kind as errors about its objects name it. */
export const groupResource = ({ resource }: Registered): GroupResource => ({ group: resource.group, resource: resource.plural })

/** A kind as validation names it: events are core's in either group. */
export const groupKind = ({ storage: { resource } }: Registered): GroupKind => ({ group: resource.group, kind: resource.kind })

/** The longest part of generateName that is kept: with the letters that follow, a name is a DNS label. */
const maxGeneratedPrefix = 58
/** Kubernetes' alphabet for generated names: no vowels, nothing easily mistaken. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789'

/** A name that begins with `base` and ends in five letters by chance. */
export function generateName(base: string, random: { next(): number }): string {
  let suffix = ''
  for (let i = 0; i < 5; i++) suffix += alphabet[Math.floor(random.next() * alphabet.length)]
  return base.slice(0, maxGeneratedPrefix) + suffix
}

/** A time as it stands in objects: whole seconds, UTC. */
export function timestamp(ms: number): string {
  const second = Math.floor(ms / 1000)
  if (second !== written.second) written = { second, text: `${new Date(ms).toISOString().slice(0, 19)}Z` }
  return written.text
}

/** The time that was last written out: under load it is the same for hundreds of objects. */
let written = { second: Number.NaN, text: '' }
