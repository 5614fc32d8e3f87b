import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionNames,
} from '../../api/generated/types.ts'

/** Names granted to definitions of the same group. */
interface Taken {
  resources: Set<string>
  kinds: Set<string>
}

function takenBy(others: readonly CustomResourceDefinition[], claimed: ReadonlySet<string>): Taken {
  const claimedOf = (what: string) =>
    [...claimed].flatMap((name) => (name.startsWith(what) ? [name.slice(what.length)] : []))
  const resources = new Set<string>(claimedOf('resources/'))
  const kinds = new Set<string>(claimedOf('kinds/'))
  for (const { acceptedNames: names } of others.map(({ status }) => status)) {
    for (const name of [names.plural, names.singular, ...(names.shortNames ?? [])]) if (name) resources.add(name)
    for (const name of [names.kind, names.listKind]) if (name) kinds.add(name)
  }
  return { resources, kinds }
}

const inUse = (name: string) => `${JSON.stringify(name)} is already in use`

/**
 * Grants a definition the names that no other definition of its group has or claims. It keeps the names that it has.
 * The last conflict is reported.
 */
export function grantNames(
  definition: CustomResourceDefinition,
  others: readonly CustomResourceDefinition[],
  claimed: ReadonlySet<string> = new Set(),
): { names: CustomResourceDefinitionNames; conflict: { reason: string; message: string } | undefined } {
  const { resources, kinds } = takenBy(others, claimed)
  const asked = definition.spec.names
  const had = definition.status.acceptedNames
  const names: CustomResourceDefinitionNames = { ...had }
  let conflict: { reason: string; message: string } | undefined
  const grant = (field: 'plural' | 'singular' | 'kind' | 'listKind', taken: Set<string>, reason: string) => {
    const name = asked[field] ?? ''
    if (name !== had[field] && taken.has(name)) conflict = { reason, message: inUse(name) }
    else if (name) names[field] = name
  }
  grant('plural', resources, 'PluralConflict')
  grant('singular', resources, 'SingularConflict')
  const shorts = (asked.shortNames ?? []).filter((name) => !had.shortNames?.includes(name) && resources.has(name))
  if (shorts.length) conflict = { reason: 'ShortNamesConflict', message: shorts.map(inUse).join(', ') }
  else setList(names, 'shortNames', asked.shortNames)
  setList(names, 'categories', asked.categories)
  grant('kind', kinds, 'KindConflict')
  grant('listKind', kinds, 'ListKindConflict')
  return { names, conflict }
}

function setList(
  names: CustomResourceDefinitionNames,
  field: 'shortNames' | 'categories',
  list: string[] | undefined,
): void {
  if (list?.length) names[field] = list
  else delete names[field]
}

/** The conditions that the names imply. */
export function nameConditions(
  definition: CustomResourceDefinition,
  conflict: { reason: string; message: string } | undefined,
  now: string,
): CustomResourceDefinitionCondition[] {
  const accepted: CustomResourceDefinitionCondition = conflict
    ? { type: 'NamesAccepted', status: 'False', ...conflict, lastTransitionTime: now }
    : {
        type: 'NamesAccepted',
        status: 'True',
        reason: 'NoConflicts',
        message: 'no conflicts found',
        lastTransitionTime: now,
      }
  const established = definition.status.conditions?.find(({ type }) => type === 'Established')
  // An established kind stays established.
  if (established?.status === 'True') return [accepted]
  const said = conflict
    ? { reason: 'NotAccepted', message: 'not all names are accepted' }
    : { reason: 'Installing', message: 'the initial names have been accepted' }
  return [accepted, { type: 'Established', status: 'False', ...said, lastTransitionTime: now }]
}
