import type { ConfigMap, DownwardAPIVolumeFile, KeyToPath, Pod, Secret } from '../../api/generated/types.ts'
import type { SandboxReason } from '../../api/kinds/pods/sandbox-condition.ts'
import { type Place, fieldValue, resourceValue } from '../env/field-values.ts'
import { containersOf } from '../pods/containers.ts'
import { MountError } from './mount-error.ts'

/** A file of a volume that is generated from API objects. */
interface VolumeFile {
  data: Buffer
  mode: number
}

/** Files by their path relative to the volume's root. */
export type VolumeFiles = Map<string, VolumeFile>

const defaultMode = 0o644

/** Selects the keys of a ConfigMap or Secret: all, or those in `items`. */
function chosen(
  contents: ReadonlyMap<string, Buffer>,
  items: readonly KeyToPath[] | undefined,
  mode: number,
  missing: (key: string) => MountError | undefined,
): VolumeFiles {
  const files: VolumeFiles = new Map()
  if (!items?.length) {
    for (const [key, data] of contents) files.set(key, { data, mode })
    return files
  }
  for (const { key, path, mode: own } of items) {
    const data = contents.get(key)
    if (data) files.set(path, { data, mode: own ?? mode })
    else {
      const error = missing(key)
      if (error) throw error
    }
  }
  return files
}

interface ObjectSource {
  items?: KeyToPath[]
  optional?: boolean
}

/** Returns the error for missing data of a source, or undefined if the source is optional. */
const missingFrom =
  (volume: string, { optional }: ObjectSource) =>
  (reason: SandboxReason, why: string): MountError | undefined =>
    optional ? undefined : new MountError(volume, reason, why)

export function configMapFiles(
  volume: string,
  name: string,
  source: ObjectSource,
  object: ConfigMap | undefined,
  mode = defaultMode,
): VolumeFiles {
  const missing = missingFrom(volume, source)
  const absent = object ? undefined : missing('ConfigMapNotFound', `configmap "${name}" not found`)
  if (absent) throw absent
  const contents = new Map<string, Buffer>()
  for (const [key, value] of Object.entries(object?.data ?? {})) contents.set(key, Buffer.from(value, 'utf8'))
  for (const [key, value] of Object.entries(object?.binaryData ?? {})) contents.set(key, Buffer.from(value, 'base64'))
  return chosen(contents, source.items, mode, (key) =>
    missing('ConfigMapKeyNotFound', `configmap references non-existent config key: ${key}`),
  )
}

export function secretFiles(
  volume: string,
  name: string,
  source: ObjectSource,
  object: Secret | undefined,
  mode = defaultMode,
): VolumeFiles {
  const missing = missingFrom(volume, source)
  const absent = object ? undefined : missing('SecretNotFound', `secret "${name}" not found`)
  if (absent) throw absent
  const contents = new Map(
    Object.entries(object?.data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64')]),
  )
  return chosen(contents, source.items, mode, (key) =>
    missing('SecretKeyNotFound', `references non-existent secret key: ${key}`),
  )
}

export function downwardFiles(
  volume: string,
  pod: Pod,
  items: readonly DownwardAPIVolumeFile[],
  place: Place,
  mode = defaultMode,
): VolumeFiles {
  const files: VolumeFiles = new Map()
  for (const { path, fieldRef, resourceFieldRef, mode: own } of items) {
    let text = ''
    if (fieldRef) text = fieldValue(pod, fieldRef.fieldPath, place)
    else if (resourceFieldRef) {
      const container = containersOf(pod).find(({ spec }) => spec.name === resourceFieldRef.containerName)
      if (!container) throw MountError.of(volume, `container ${resourceFieldRef.containerName} not found`)
      text = resourceValue(resourceFieldRef, container.spec, place)
    }
    files.set(path, { data: Buffer.from(text, 'utf8'), mode: own ?? mode })
  }
  return files
}
