import type { Volume } from '../../generated/types.ts'
import { quantityIsInteger } from '../../numbers/quantity.ts'
import type { Path } from '../../validation/path.ts'

/** Deprecated volume sources with the text of their warnings. */
const deprecated: Partial<Record<keyof Volume, string>> = {
  photonPersistentDisk: 'deprecated in v1.11, non-functional in v1.16+',
  gitRepo: 'deprecated in v1.11, and disabled by default in v1.33+',
  scaleIO: 'deprecated in v1.16, non-functional in v1.22+',
  flocker: 'deprecated in v1.22, non-functional in v1.25+',
  storageos: 'deprecated in v1.22, non-functional in v1.25+',
  quobyte: 'deprecated in v1.22, non-functional in v1.25+',
  glusterfs: 'deprecated in v1.25, non-functional in v1.26+',
  cephfs: 'deprecated in v1.28, non-functional in v1.31+',
  rbd: 'deprecated in v1.28, non-functional in v1.31+',
}

/** A file of a volume with its source (which is known only for projected volumes). */
interface FileOrigin {
  path: string
  from: string
}

/** A directory or file: the indices of the files at this path and below it. */
interface Place {
  own: number[]
  below: number[]
  inner: Map<string, Place>
}

const newPlace = (): Place => ({ own: [], below: [], inner: new Map() })

/** At most 4,096 characters of warnings are sent, so more overlaps are never shown. */
const maxOverlaps = 100

function overlaps(files: readonly FileOrigin[]): string[] {
  const found: string[] = []
  const said = ({ path, from }: FileOrigin) => JSON.stringify(path) + (from ? ` (${from})` : '')
  const root = newPlace()
  for (let i = 0; i < files.length && found.length < maxOverlaps; i++) {
    for (const earlier of placeFile(root, files[i]!.path, i))
      found.push(`${said(files[i]!)} with ${said(files[earlier]!)}`)
  }
  return found.slice(0, maxOverlaps)
}

/** Adds a file. Returns the first earlier files at the same path, above it or below it. */
function placeFile(root: Place, path: string, number: number): number[] {
  const others: number[] = []
  let at = root
  for (const name of path.split('/')) {
    if (at !== root) {
      others.push(...at.own.slice(0, maxOverlaps))
      at.below.push(number)
    }
    let next = at.inner.get(name)
    if (!next) at.inner.set(name, (next = newPlace()))
    at = next
  }
  others.push(...at.own.slice(0, maxOverlaps), ...at.below.slice(0, maxOverlaps))
  at.own.push(number)
  return others.sort((a, b) => a - b).slice(0, maxOverlaps)
}

const filesOf = (items: readonly { path: string }[] | undefined, from: string): FileOrigin[] =>
  (items ?? []).map(({ path }) => ({ path, from }))

function projectedFiles(volume: Volume): FileOrigin[] {
  return (volume.projected?.sources ?? []).flatMap((source) => [
    ...filesOf(source.secret?.items, `Secret ${JSON.stringify(source.secret?.name)}`),
    ...filesOf(source.configMap?.items, `ConfigMap ${JSON.stringify(source.configMap?.name)}`),
    ...filesOf(source.downwardAPI?.items, 'DownwardAPI'),
    ...(source.serviceAccountToken ? [{ path: source.serviceAccountToken.path, from: 'ServiceAccountToken' }] : []),
  ])
}

function overlapWarnings(volume: Volume): string[] {
  const say = (what: string, files: readonly FileOrigin[]) => {
    const found = overlaps(files)
    return found.length
      ? [`volume ${JSON.stringify(volume.name)} (${what}): overlapping paths: ${found.join(', ')}`]
      : []
  }
  const { configMap, secret, downwardAPI, projected } = volume
  if (configMap?.items) return say(`ConfigMap ${JSON.stringify(configMap.name)}`, filesOf(configMap.items, ''))
  if (secret?.items) return say(`Secret ${JSON.stringify(secret.secretName)}`, filesOf(secret.items, ''))
  if (downwardAPI?.items) return say('DownwardAPI', filesOf(downwardAPI.items, ''))
  if (!projected) return []
  const empty = (projected.sources ?? []).some((source) => Object.values(source).every((kind) => kind === undefined))
  return [
    ...(empty ? [`volume ${JSON.stringify(volume.name)} (Projected) has no sources provided`] : []),
    ...say('Projected', projectedFiles(volume)),
  ]
}

/** Warnings about the volumes of a pod. */
export function volumeWarnings(volumes: readonly Volume[], path: Path): string[] {
  const warnings: string[] = []
  for (const [i, volume] of volumes.entries()) {
    for (const field in volume) {
      const fate = deprecated[field as keyof Volume]
      if (fate === undefined || volume[field as keyof Volume] === undefined) continue
      warnings.push(`${path.index(i).child(field === 'storageos' ? 'storageOS' : field)}: ${fate}`)
    }
    const storage = volume.ephemeral?.volumeClaimTemplate?.spec?.resources?.requests?.['storage']
    if (storage !== undefined && !quantityIsInteger(storage)) {
      const at = path.index(i).child('ephemeral', 'volumeClaimTemplate', 'spec', 'resources', 'requests').key('storage')
      warnings.push(`${at}: fractional byte value ${JSON.stringify(storage)} is invalid, must be an integer`)
    }
    warnings.push(...overlapWarnings(volume))
  }
  return warnings
}
