import type { PersistentVolumeClaim, Pod } from '../api/generated/types.ts'
import { storageClassOf } from '../api/kinds/volumes/storage-classes.ts'
import { type Group, keysOf, metricLabel } from './groups.ts'
import type { SandboxLabels } from './observation.ts'

/** Longer values are truncated: an annotation may have 256 KiB. */
const maxLength = 256

/** Reads the labels of facts from pods. Throws if two selected keys have the same label name. */
export class PodLabels {
  readonly #labels: readonly (readonly [name: string, key: string])[]
  readonly #annotations: readonly (readonly [name: string, key: string])[]
  readonly #claim: (key: string) => PersistentVolumeClaim | undefined

  /** `groups` are the additional labels: `label:app`. */
  constructor(groups: readonly Group[], claim: (key: string) => PersistentVolumeClaim | undefined) {
    this.#labels = named('label', groups)
    this.#annotations = named('annotation', groups)
    this.#claim = claim
  }

  /** All label names in order. */
  get names(): string[] {
    return [
      'namespace',
      'runtime_class',
      'storage_classes',
      'volumes',
      ...this.#labels.map(([name]) => name),
      ...this.#annotations.map(([name]) => name),
    ]
  }

  of(pod: Pod): SandboxLabels {
    const { metadata, spec } = pod
    const labels: Record<string, string> = {
      namespace: metadata.namespace ?? '',
      runtime_class: spec?.runtimeClassName ?? '',
      storage_classes: this.#storageClasses(pod),
      volumes: String(spec?.volumes?.length ?? 0),
    }
    for (const [name, key] of this.#labels) labels[name] = cut(metadata.labels?.[key])
    for (const [name, key] of this.#annotations) labels[name] = cut(metadata.annotations?.[key])
    return labels
  }

  #storageClasses({ metadata, spec }: Pod): string {
    const classes = new Set<string>()
    for (const { name: volume, persistentVolumeClaim, ephemeral } of spec?.volumes ?? []) {
      if (!persistentVolumeClaim && !ephemeral) continue
      const claim = this.#claim(
        `${metadata.namespace}/${persistentVolumeClaim?.claimName ?? `${metadata.name}-${volume}`}`,
      )
      const name = claim ? storageClassOf(claim) : ephemeral?.volumeClaimTemplate?.spec.storageClassName
      if (name) classes.add(name)
    }
    return [...classes].sort().join(',')
  }
}

function named(kind: 'label' | 'annotation', groups: readonly Group[]): [string, string][] {
  const byName = new Map<string, string>()
  for (const key of new Set(keysOf(kind, groups))) {
    const name = metricLabel(kind, key)
    const other = byName.get(name)
    if (other !== undefined) {
      throw new Error(`${kind}s ${JSON.stringify(other)} and ${JSON.stringify(key)} would both become label ${name}`)
    }
    byName.set(name, key)
  }
  return [...byName]
}

const cut = (text = ''): string => (text.length > maxLength ? text.slice(0, maxLength) : text)
