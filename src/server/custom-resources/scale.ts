import { internalError } from '../../api/errors.ts'
import type { CustomResourceSubresourceScale } from '../../api/generated/types.ts'
import { type KubeObject, isFields } from '../../api/object.ts'
import { type FieldError, invalid } from '../../api/validation/field-error.ts'
import { Path } from '../../api/validation/path.ts'
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

const mostReplicas = 2 ** 31 - 1

/** How Go shows the type of a JSON value. */
function goTypeOf(value: unknown): string {
  if (Array.isArray(value)) return '[]interface {}'
  if (value === null) return '<nil>'
  if (typeof value === 'object') return 'map[string]interface {}'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'string') return 'string'
  return typeof value === 'bigint' || Number.isInteger(value) ? 'int64' : 'float64'
}

/** How Go shows a value in an error of an accessor. */
function shownInGo(value: unknown): string {
  if (value === null) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(shownInGo).join(' ')}]`
  if (!isFields(value)) return String(value)
  const fields = Object.keys(value)
    .sort()
    .map((name) => `${name}:${shownInGo(value[name])}`)
  return `map[${fields.join(' ')}]`
}

/** Returns the error of a value at a path that has another type. */
function typeError(object: unknown, path: string, wanted: 'int64' | 'string'): string | undefined {
  const names = namesOf(path)
  let at = object
  for (const [i, name] of names.entries()) {
    if (at === null) return undefined
    if (!isFields(at)) {
      const until = `.${names.slice(0, i + 1).join('.')}`
      return `${until} accessor error: ${shownInGo(at)} is of the type ${goTypeOf(at)}, expected map[string]interface{}`
    }
    if (!Object.hasOwn(at, name)) return undefined
    at = at[name]
  }
  if (goTypeOf(at) === wanted) return undefined
  return `.${names.join('.')} accessor error: ${shownInGo(at)} is of the type ${goTypeOf(at)}, expected ${wanted}`
}

function replicaErrors(object: KubeObject, path: string): FieldError[] {
  const at = Path.of(path)
  const problem = typeError(object, path, 'int64')
  if (problem) return [invalid(at, 0, problem)]
  const replicas = valueAt(object, namesOf(path)) as number | bigint | undefined
  if (replicas === undefined) return []
  if (replicas < 0) return [invalid(at, replicas, 'should be a non-negative integer')]
  return replicas > mostReplicas ? [invalid(at, replicas, `should be less than or equal to ${mostReplicas}`)] : []
}

/** Validates the replicas of the status, and the selector. */
export function scaleStatusErrors(object: KubeObject, paths: CustomResourceSubresourceScale): FieldError[] {
  const errors = replicaErrors(object, paths.statusReplicasPath)
  const { labelSelectorPath: path } = paths
  const problem = path ? typeError(object, path, 'string') : undefined
  return problem ? [...errors, invalid(Path.of(path!), '', problem)] : errors
}

/** Validates all values of the Scale. */
export const scaleErrors = (object: KubeObject, paths: CustomResourceSubresourceScale): FieldError[] => [
  ...replicaErrors(object, paths.specReplicasPath),
  ...scaleStatusErrors(object, paths),
]

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
