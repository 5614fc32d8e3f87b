import { entriesByVersion } from '../discovery/entries.ts'
import type { Served } from '../discovery/served.ts'
import { groupVersion } from '../discovery/served.ts'
import { Definitions } from './definitions.ts'
import type { Operation } from './operations.ts'
import { operationsOf } from './operations.ts'
import type { Parameter } from './parameters.ts'

const parameter = ({ type, ...rest }: Parameter) => ({
  ...rest,
  ...(rest.in === 'path' ? { required: true } : {}),
  schema: { type, uniqueItems: true },
})

function content(definitions: Definitions, name: string | undefined, types: readonly string[]) {
  const value = { schema: name ? definitions.ref(name) : { type: 'string' } }
  return Object.fromEntries(types.map((type) => [type, value]))
}

function operation(definitions: Definitions, op: Operation) {
  const stream = op.action === 'list' ? ['application/json;stream=watch'] : []
  const answerTypes = op.answer ? ['application/json', 'application/yaml', ...stream] : ['text/plain']
  const body = op.body && {
    content: content(definitions, op.body, op.patchTypes ?? ['*/*']),
    ...(op.method === 'delete' ? {} : { required: true }),
  }
  const ok = { description: 'OK', content: content(definitions, op.answer, answerTypes) }
  return {
    tags: [op.tag],
    description: op.description,
    operationId: op.id,
    parameters: op.parameters.map(parameter),
    ...(body ? { requestBody: body } : {}),
    responses: {
      200: ok,
      ...(op.action === 'post' || op.action === 'put' || op.patchTypes
        ? { 201: { ...ok, description: 'Created' } }
        : {}),
      401: { description: 'Unauthorized' },
    },
    'x-kubernetes-action': op.action,
    'x-kubernetes-group-version-kind': op.kind,
  }
}

/** The OpenAPI 3 document of a group version (`apps/v1`). Undefined if it is not served. */
export function v3Document(served: Served, version: string, serverVersion: string): object | undefined {
  const definitions = new Definitions(served, served.schema, 'v3')
  const operations = operationsOf(served, version, entriesByVersion(served).get(version) ?? [], definitions)
  if (!operations.length) return undefined
  const paths: Record<string, Record<string, object>> = {}
  for (const op of operations) {
    const item = (paths[op.path] ??= {})
    item[op.method] = operation(definitions, op)
  }
  const used = new Set(operations.flatMap((op) => [op.body, op.answer]))
  const own = definitions.types.filter((t) => groupVersion(t) === version)
  const roots = [...definitions.types.filter((t) => used.has(definitions.nameOf(t.type))), ...own].map((t) => t.type)
  const listed = own.filter((t) => used.has(definitions.listNameOf(t.type, t.kind)))
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: serverVersion },
    paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))),
    components: { schemas: definitions.define([...roots, 'Status', 'DeleteOptions'], listed) },
  }
}
