import { type Client, discover } from '../../client/index.ts'
import { CommandError, noResourceType } from '../../insight/failure.ts'
import { type WorkloadKind, workloadKinds } from '../../insight/workload/kinds.ts'

/** A name on the command line: a kind, or one object of it. */
export interface Named<K> {
  kind: K
  name: string | undefined
}

const slashHint =
  'there is no need to specify a resource type as a separate argument when passing arguments in resource/name form ' +
  "(e.g. 'resource/<resource_name>' instead of 'resource resource/<resource_name>')"

/** Parses `KIND`, `KIND,KIND`, `KIND NAME…` and `KIND/NAME…`, as kubectl does. */
export function parseNames(args: readonly string[]): Named<string>[] {
  if (!args.some((arg) => arg.includes('/'))) {
    const [kinds = '', ...names] = args
    const wanted = names.length > 0 ? names : [undefined]
    return kinds
      .split(',')
      .filter((kind) => kind !== '')
      .flatMap((kind) => wanted.map((name) => ({ kind, name })))
  }
  return args.map((arg) => {
    const [kind = '', name = '', ...rest] = arg.split('/')
    if (!arg.includes('/')) throw new CommandError(slashHint)
    if (rest.length > 0) throw new CommandError('arguments in resource/name form may not have more than one slash')
    if (kind === '' || name === '')
      throw new CommandError('arguments in resource/name form must have a single resource and name')
    return { kind, name }
  })
}

/** True if a text names the kind: `deploy`, `Deployment`, `deployments.apps`, `deployments.v1.apps`. */
export function isKindName(
  text: string,
  { type, singular, shortNames }: Pick<WorkloadKind, 'type' | 'singular' | 'shortNames'>,
): boolean {
  const [first = '', ...rest] = text.toLowerCase().split('.')
  if (first !== singular && first !== type.plural && !shortNames.includes(first)) return false
  const group = rest.join('.')
  return (
    group === '' ||
    group === type.group ||
    group === `${type.version}.${type.group}` ||
    (type.group === '' && group === type.version)
  )
}

export const findKind = (text: string): WorkloadKind | undefined => workloadKinds.find((kind) => isKindName(text, kind))

/**
 * The workloads on a command line. Rejects with kubectl's message for an unknown kind, and with ours for a kind that is
 * not a workload.
 */
export async function workloadsNamed(client: Client, args: readonly string[]): Promise<Named<WorkloadKind>[]> {
  const names = parseNames(args)
  const found: Named<WorkloadKind>[] = []
  for (const { kind: text, name } of names) {
    const kind = findKind(text)
    if (!kind) throw await unknownKind(client, text)
    found.push({ kind, name })
  }
  return found
}

/** As `workloadsNamed`, but every argument must name an object. */
export async function objectsNamed(
  client: Client,
  args: readonly string[],
): Promise<(Named<WorkloadKind> & { name: string })[]> {
  if (args.length === 0) throw new CommandError('required resource not specified')
  return (await workloadsNamed(client, args)).map(({ kind, name }) => {
    if (name === undefined) throw new CommandError(`resource name is required: ${kind.singular}/NAME`)
    return { kind, name }
  })
}

/** The error for a kind that is not a workload: one of the cluster, or an unknown one. */
async function unknownKind(client: Client, text: string): Promise<CommandError> {
  // If the server does not answer, the kind is reported as unknown.
  const { resources } = await discover(client).catch(() => ({ resources: [] }))
  const served = resources.find((resource) => isKindName(text, { ...resource, type: resource }))
  if (!served) return noResourceType(text)
  return new CommandError(
    `${served.kind} is not a workload; supported are ${workloadKinds.map(({ singular }) => `${singular}s`).join(', ')}`,
  )
}
