import { entriesByVersion } from '../discovery/entries.ts'
import type { Served } from '../discovery/served.ts'
import type { Definition } from './swagger-schema.ts'
import { Definitions } from './definitions.ts'
import type { Operation } from './operations.ts'
import { operationsOf } from './operations.ts'
import type { Parameter } from './parameters.ts'

/** An operation in OpenAPI 2. */
export interface SwaggerOperation {
  tags: string[]
  description: string
  operationId: string
  consumes: string[]
  produces: string[]
  parameters: object[]
  responses: Record<string, { description: string; schema?: Definition }>
  [extension: `x-${string}`]: unknown
}

/** The used subset of an OpenAPI 2 document. */
export interface Swagger {
  swagger: '2.0'
  info: { title: string; version: string }
  paths: Record<string, Record<string, SwaggerOperation>>
  definitions: Record<string, Definition>
}

const parameter = (p: Parameter) => ({ ...p, ...(p.in === 'path' ? { required: true } : {}), uniqueItems: true })

function operation(definitions: Definitions, op: Operation): SwaggerOperation {
  const required = op.method === 'delete' ? {} : { required: true }
  const body = op.body && { name: 'body', in: 'body', ...required, schema: definitions.ref(op.body) }
  const answer = op.answer ? { schema: definitions.ref(op.answer) } : { schema: { type: 'string' } }
  return {
    tags: [op.tag],
    description: op.description,
    operationId: op.id,
    consumes: [...(op.patchTypes ?? ['*/*'])],
    produces: op.answer ? ['application/json', 'application/yaml'] : ['text/plain'],
    parameters: [...(body ? [body] : []), ...op.parameters.map(parameter)],
    responses: { 200: { description: 'OK', ...answer }, 401: { description: 'Unauthorized' } },
    'x-kubernetes-action': op.action,
    'x-kubernetes-group-version-kind': op.kind,
  }
}

/** The OpenAPI 2 document of all served kinds. */
export function v2Document(served: Served, serverVersion: string): Swagger {
  const definitions = new Definitions(served, served.schema, 'v2')
  const paths: Swagger['paths'] = {}
  const used = new Set<string | undefined>()
  for (const [version, entries] of entriesByVersion(served)) {
    for (const op of operationsOf(served, version, entries, definitions)) {
      const item = (paths[op.path] ??= {})
      item[op.method] = operation(definitions, op)
      used.add(op.answer)
    }
  }
  const listed = definitions.types.filter((t) => used.has(definitions.listNameOf(t.type, t.kind)))
  const all = definitions.define([...definitions.types.map((t) => t.type), 'Status', 'DeleteOptions'], listed)
  return { swagger: '2.0', info: { title: 'Kubernetes', version: serverVersion }, paths, definitions: all }
}
