import { readFileSync } from 'node:fs'
import { parseAllDocuments, stringify } from 'yaml'
import type { CustomResourceDefinition } from '../../api/generated/types.ts'
import { cloneSetDefinition } from '../../api/kinds/workloads/cloneset-definition.ts'
import { type Schema, type TypedKind, typeScriptOf } from '../../api/structural/index.ts'

/** Built-in kinds with a CustomResourceDefinition for other clusters. */
const definitions: Record<string, () => CustomResourceDefinition> = { cloneset: cloneSetDefinition }

/** Prints the definition of a kind. */
export function printDefinition(
  kind: string,
  write: (text: string) => void = (text) => process.stdout.write(text),
): void {
  const name = kind.toLowerCase().replace(/s$/, '')
  const definition = Object.hasOwn(definitions, name) ? definitions[name]! : undefined
  if (!definition)
    throw new Error(`no definition of ${JSON.stringify(kind)}: only of ${Object.keys(definitions).join(', ')}`)
  write(stringify(definition(), { aliasDuplicateObjects: false, lineWidth: 0 }))
}

/** Prints the types of all definitions in files. */
export async function printTypes(
  files: readonly string[],
  from: string,
  write: (text: string) => void = (text) => process.stdout.write(text),
): Promise<void> {
  const kinds = files.flatMap((file) => typedKinds(read(file), file))
  write(typeScriptOf(kinds, from))
}

const read = (file: string): string => readFileSync(file === '-' ? 0 : file, 'utf8')

/**
 * Returns the kinds of the definitions in a text, storage version first. Other objects are ignored; a text without
 * definitions is an error.
 */
export function typedKinds(text: string, file: string): TypedKind[] {
  const objects = parseAllDocuments(text).flatMap((document) => {
    if ('errors' in document && document.errors.length)
      throw new Error(`${file}: ${document.errors[0]!.message.split('\n', 1)[0]}`)
    const value = ('toJS' in document ? document.toJS() : undefined) as { kind?: string; items?: unknown[] } | undefined
    return value?.kind === 'List' ? (value.items ?? []) : [value]
  })
  const found = objects.filter(
    (object): object is CustomResourceDefinition =>
      (object as { kind?: string } | undefined)?.kind === 'CustomResourceDefinition',
  )
  if (found.length === 0) throw new Error(`${file}: there is no CustomResourceDefinition in it`)
  return found.flatMap(({ metadata, spec }) => {
    if (!spec?.names?.kind || !spec.versions?.length)
      throw new Error(`${file}: ${metadata?.name ?? 'a definition'} has no names or no versions`)
    const { group, names, scope } = spec
    return [...spec.versions]
      .sort((a, b) => Number(b.storage) - Number(a.storage))
      .map(({ name: version, schema }) => ({
        group,
        version,
        kind: names.kind,
        plural: names.plural,
        namespaced: scope === 'Namespaced',
        schema: (schema?.openAPIV3Schema ?? {}) as Schema,
      }))
  })
}
