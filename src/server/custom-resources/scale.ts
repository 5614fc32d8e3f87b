import { internalError } from '../../api/errors.ts'
import type { CustomResourceSubresourceScale } from '../../api/generated/types.ts'
import { type KubeObject, isFields } from '../../api/object.ts'
import { pathNames } from '../../api/structural/index.ts'
import type { ScaleMapping } from '../registry/resource.ts'

const namesOf = (path: string | undefined): string[] => {
  const names = path ? pathNames(path) : []
  return typeof names === 'string' ? [] : names
}

function valueAt(object: unknown, names: readonly string[]): unknown {
  let at = object
  for (const name of names) {
    if (!isFields(at) || !Object.hasOwn(at, name)) return undefined
    at = at[name]
  }
  return names.length ? at : undefined
}

const numberAt = (object: KubeObject, names: readonly string[]): number => {
  const value = valueAt(object, names)
  return typeof value === 'number' ? value : 0
}

/** Maps the Scale subresource by the paths in the definition. */
export function scaleMapping(paths: CustomResourceSubresourceScale): ScaleMapping<KubeObject> {
  const [spec, status, selector] = [paths.specReplicasPath, paths.statusReplicasPath, paths.labelSelectorPath].map(
    namesOf,
  )
  return {
    specReplicas: (object) => numberAt(object, spec!),
    statusReplicas: (object) => numberAt(object, status!),
    selector(object) {
      const value = valueAt(object, selector!)
      return typeof value === 'string' ? value : ''
    },
    setReplicas(object, replicas) {
      let at: unknown = object
      for (const name of spec!.slice(0, -1)) {
        if (!isFields(at)) return
        if (!isFields(at[name])) at[name] = {}
        at = at[name]
      }
      if (isFields(at)) at[spec!.at(-1)!] = replicas
    },
    checkRead(object) {
      if (valueAt(object, spec!) === undefined) {
        throw internalError(`the spec replicas field "${paths.specReplicasPath}" does not exist`)
      }
    },
    negative: { path: paths.specReplicasPath, saying: 'should be a non-negative integer' },
  }
}
