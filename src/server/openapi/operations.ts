import type { Entry } from '../discovery/entries.ts'
import type { Served } from '../discovery/served.ts'
import { groupVersion } from '../discovery/served.ts'
import type { Definitions } from './definitions.ts'
import { patchDefinition } from './definitions.ts'
import type { Parameter } from './parameters.ts'
import { nameParameter, namespaceParameter, queries } from './parameters.ts'

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** An operation, independent of the OpenAPI version. */
export interface Operation {
  path: string
  method: Method
  /** Kubernetes' action: list, post, put, patch, delete, deletecollection, connect. */
  action: string
  id: string
  tag: string
  description: string
  kind: { group: string; version: string; kind: string }
  parameters: readonly Parameter[]
  /** The definition of the body, if there is one. */
  body?: string
  /** The definition of the response. Undefined for text. */
  answer?: string
  /** The content types of a patch; undefined for other operations. kubectl reads the supported patch types here. */
  patchTypes?: readonly string[]
}

/** Custom resources do not support strategic merge patches, which need Go's types. */
const customPatchTypes = ['application/apply-patch+yaml', 'application/json-patch+json', 'application/merge-patch+json']
const patchTypes = [...customPatchTypes, 'application/strategic-merge-patch+json']

interface Shape {
  method: Method
  action: string
  word: string
  does: string
  article: string
  query: keyof typeof queries
}

const shapes: Record<string, Shape> = {
  get: { method: 'get', action: 'get', word: 'read', does: 'read', article: ' the specified', query: 'get' },
  list: {
    method: 'get',
    action: 'list',
    word: 'list',
    does: 'list or watch objects of kind',
    article: '',
    query: 'list',
  },
  create: { method: 'post', action: 'post', word: 'create', does: 'create', article: ' a', query: 'create' },
  update: {
    method: 'put',
    action: 'put',
    word: 'replace',
    does: 'replace',
    article: ' the specified',
    query: 'update',
  },
  patch: {
    method: 'patch',
    action: 'patch',
    word: 'patch',
    does: 'partially update',
    article: ' the specified',
    query: 'patch',
  },
  delete: { method: 'delete', action: 'delete', word: 'delete', does: 'delete', article: ' a', query: 'delete' },
  deletecollection: {
    method: 'delete',
    action: 'deletecollection',
    word: 'delete',
    does: 'delete collection of',
    article: '',
    query: 'deletecollection',
  },
}

const onCollection = new Set(['list', 'create', 'deletecollection'])
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
const shortGroup = (group: string) => (group ? group.split('.', 1)[0]! : 'core')

/** The operations of one group version (`apps/v1`), from its discovery entries. */
export function operationsOf(
  served: Served,
  version: string,
  entries: readonly Entry[],
  definitions: Definitions,
): Operation[] {
  const slash = version.indexOf('/')
  const own = served.resources.filter((r) => groupVersion(r) === version)
  const of: Place = {
    group: slash < 0 ? '' : version.slice(0, slash),
    version: version.slice(slash + 1),
    root: slash < 0 ? `/api/${version}` : `/apis/${version}`,
    resources: new Map(
      own.map((r) => [r.plural, { kind: r.kind, type: r.type ?? r.kind, isCustom: r.isCustom === true }]),
    ),
    bodies: new Map(served.actions.map((a) => [`${a.of.group}/${a.of.plural}/${a.of.subresource}`, a.bodyType])),
    definitions,
  }
  const operations: Operation[] = []
  for (const entry of entries) {
    for (const verb of entry.verbs)
      if (verb !== 'watch' && shapes[verb]) operations.push(operation(of, entry, verb, entry.namespaced))
    if (entry.namespaced && entry.verbs.includes('list')) operations.push(operation(of, entry, 'list', false))
  }
  return operations
}

interface Place {
  group: string
  version: string
  root: string
  /** By plural name, without virtual kinds. */
  resources: ReadonlyMap<string, { kind: string; type: string; isCustom: boolean }>
  /** The body types of actions, by `group/plural/subresource`. */
  bodies: ReadonlyMap<string, string | undefined>
  definitions: Definitions
}

function operation(of: Place, entry: Entry, verb: string, inNamespace: boolean): Operation {
  const shape = shapes[verb]!
  const { subresource } = entry
  const isCollection = onCollection.has(verb) && !subresource
  const forAll = entry.namespaced && !inNamespace ? 'ForAllNamespaces' : ''
  // Connections carry no objects: exec, attach, portforward, proxy.
  const connects = subresource !== '' && entry.kind.endsWith('Options')
  const main = of.resources.get(entry.name) ?? { kind: entry.kind, type: entry.kind, isCustom: false }
  const word = connects ? `connect${capital(shape.method)}` : shape.word
  const path = [
    of.root,
    ...(inNamespace ? ['namespaces', '{namespace}'] : []),
    entry.name,
    ...(isCollection ? [] : ['{name}']),
  ]
  const many = verb === 'deletecollection' ? 'Collection' : ''
  const id = [word, capital(shortGroup(of.group)), capital(of.version), many, inNamespace ? 'Namespaced' : '']
  return {
    path: [...path, ...(subresource ? [subresource] : [])].join('/'),
    method: shape.method,
    action: connects ? 'connect' : shape.action,
    id: [...id, main.kind, capital(subresource), forAll].join(''),
    tag: `${shortGroup(of.group)}_${of.version}`,
    description: connects
      ? `connect ${shape.method.toUpperCase()} requests to ${subresource} of ${main.kind}`
      : `${shape.does}${subresource ? ` ${subresource} of` : ''}${shape.article} ${main.kind}`,
    kind: { group: entry.group ?? of.group, version: entry.version ?? of.version, kind: entry.kind },
    parameters: [
      ...(isCollection ? [] : [nameParameter(entry.kind)]),
      ...(inNamespace ? [namespaceParameter] : []),
      ...(connects ? [] : queries[shape.query]),
    ],
    ...(connects ? {} : bodyAndAnswer(of, entry, verb, main)),
    ...(verb === 'patch' && !connects ? { patchTypes: main.isCustom ? customPatchTypes : patchTypes } : {}),
  }
}

function bodyAndAnswer(
  { definitions, ...of }: Place,
  entry: Entry,
  verb: string,
  main: { type: string },
): Pick<Operation, 'body' | 'answer'> {
  const status = definitions.nameOf('Status')
  switch (verb) {
    case 'list':
      return { answer: definitions.listNameOf(main.type, entry.kind) }
    case 'delete':
    case 'deletecollection':
      return { body: definitions.nameOf('DeleteOptions'), answer: status }
  }
  if (entry.subresource === 'log') return {}
  const type = entry.subresource === 'scale' ? 'Scale' : of.bodies.get(`${of.group}/${entry.name}/${entry.subresource}`)
  const answer = definitions.nameOf(type ?? main.type)
  switch (verb) {
    case 'create':
    case 'update':
      return { body: answer, answer }
    case 'patch':
      return { body: patchDefinition, answer }
    default:
      return { answer }
  }
}
