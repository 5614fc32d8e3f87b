import type { Command, Option } from 'commander'
import { acceptMetadata, Client, HttpTransport, type List, loadAccess, namespaces, pathOf } from '../../client/index.ts'
import { workloadKinds } from '../../insight/workload/kinds.ts'
import { findKind } from '../workload/names.ts'

/** A completion with its description. */
interface Suggestion {
  word: string
  meaning?: string | undefined
}

/** Completions. `allowsFiles` lets the shell add file names. */
export interface Suggestions {
  words: Suggestion[]
  allowsFiles: boolean
}

/** Fetches names from a cluster. `flags` are those of the command line, without dashes. */
export interface NameSource {
  workloads(kind: string, flags: ReadonlyMap<string, string>): Promise<string[]>
  namespaces(flags: ReadonlyMap<string, string>): Promise<string[]>
}

/** The state of a command line before the word to complete. */
interface Position {
  command: Command
  /** Arguments that are neither commands nor flags. */
  operands: string[]
  flags: Map<string, string>
  /** The flag whose value is being completed. */
  pending: Option | undefined
}

const outcomes = [
  'condition=Available',
  'condition=Progressing',
  'condition=Complete',
  'condition=Failed',
  'condition=Running',
  'create',
  'delete',
  'jsonpath=',
]

/** Returns completions of the last word of a command line. */
export async function suggestionsFor(
  program: Command,
  words: readonly string[],
  names: NameSource,
): Promise<Suggestions> {
  const typed = words.at(-1) ?? ''
  const position = positionOf(program, words.slice(0, -1))
  const found = await candidates(position, typed, names)
  return { ...found, words: found.words.filter(({ word }) => word.startsWith(typed)) }
}

async function candidates(
  { command, operands, flags, pending }: Position,
  typed: string,
  names: NameSource,
): Promise<Suggestions> {
  const only = (words: Suggestion[]): Suggestions => ({ words, allowsFiles: false })
  if (pending) return valuesOf(pending, flags, names)
  if (typed.startsWith('-')) return only(flagsOf(command))
  if (command.commands.length > 0) return only(subcommandsOf(command))
  if (command.name() === 'completion') return only(['bash', 'zsh', 'fish'].map((word) => ({ word })))
  if (!takesWorkloads(command)) return { words: [], allowsFiles: true }
  return only(await workloadWords(operands, typed, flags, names))
}

function positionOf(program: Command, words: readonly string[]): Position {
  const position: Position = { command: program, operands: [], flags: new Map(), pending: undefined }
  for (const word of words) {
    if (position.pending) {
      position.flags.set(position.pending.attributeName(), word)
      position.pending = undefined
    } else if (word.startsWith('-') && word !== '-') takeFlag(position, word)
    else {
      const sub =
        position.operands.length === 0 ? position.command.commands.find((one) => one.name() === word) : undefined
      if (sub) position.command = sub
      else position.operands.push(word)
    }
  }
  return position
}

function takeFlag(position: Position, word: string): void {
  const [name = '', ...rest] = word.split('=')
  const option = position.command.options.find(({ long, short }) => long === name || short === name)
  if (!option) return
  if (rest.length > 0) position.flags.set(option.attributeName(), rest.join('='))
  else if (option.required) position.pending = option
}

const subcommandsOf = (command: Command): Suggestion[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .map((one) => ({ word: one.name(), meaning: one.description() }))

const flagsOf = (command: Command): Suggestion[] =>
  command
    .createHelp()
    .visibleOptions(command)
    .flatMap(({ long, description }) => (long ? [{ word: long, meaning: description }] : []))

async function valuesOf(option: Option, flags: ReadonlyMap<string, string>, names: NameSource): Promise<Suggestions> {
  const words = (all: readonly string[]): Suggestions => ({ words: all.map((word) => ({ word })), allowsFiles: false })
  if (option.argChoices) return words(option.argChoices)
  const name = option.attributeName()
  if (name === 'namespace') return words(await names.namespaces(flags))
  if (name === 'for' || name === 'or') return words(outcomes)
  return { words: [], allowsFiles: /file|dir|config|catalogue/i.test(name) }
}

/** Returns true for commands with connection flags and arguments KIND NAME or KIND/NAME. */
const takesWorkloads = ({ registeredArguments, options }: Command): boolean =>
  registeredArguments.some((argument) => argument.variadic) && options.some(({ long }) => long === '--context')

async function workloadWords(
  operands: readonly string[],
  typed: string,
  flags: ReadonlyMap<string, string>,
  names: NameSource,
): Promise<Suggestion[]> {
  const slash = typed.indexOf('/')
  if (slash >= 0) {
    const kind = typed.slice(0, slash)
    return (await names.workloads(kind, flags)).map((name) => ({ word: `${kind}/${name}` }))
  }
  const [kind] = operands
  if (kind !== undefined && !kind.includes('/')) return (await names.workloads(kind, flags)).map((word) => ({ word }))
  return workloadKinds.map(({ singular, shortNames }) => ({
    word: singular,
    meaning: shortNames.join(', ') || undefined,
  }))
}

/** Time limit for names from the cluster, because the shell waits. */
const patienceMs = 2000

/** Fetches names from the cluster of the command line. Any failure returns none. */
export const clusterNames: NameSource = {
  workloads(text, flags) {
    const kind = findKind(text)
    return kind ? listNames(flags, (namespace) => pathOf(kind.type, namespace)) : Promise.resolve([])
  },
  namespaces: (flags) => listNames(flags, () => pathOf(namespaces)),
}

async function listNames(flags: ReadonlyMap<string, string>, path: (namespace: string) => string): Promise<string[]> {
  let client: Client | undefined
  try {
    const access = await loadAccess({
      file: flags.get('kubeconfig'),
      context: flags.get('context'),
      namespace: flags.get('namespace'),
    })
    client = new Client(new HttpTransport(access, { requestTimeoutMs: patienceMs, connectTimeoutMs: patienceMs }), {
      retries: { unanswered: 0, throttled: 0 },
    })
    const { items } = await client.transport.send<List>({
      method: 'GET',
      path: path(access.namespace),
      accept: acceptMetadata('PartialObjectMetadataList'),
      query: { limit: '500' },
    })
    return items.map(({ metadata }) => metadata.name ?? '')
  } catch {
    return []
  } finally {
    await client?.close()
  }
}

/** Formats completions in the protocol of kubectl plugins: one per line, and then a directive. */
export function protocolText({ words, allowsFiles }: Suggestions): string {
  const lines = words.map(({ word, meaning }) => (meaning ? `${word}\t${meaning}` : word))
  return `${[...lines, allowsFiles ? ':0' : ':4'].join('\n')}\n`
}
