import type { Definition } from './swagger-schema.ts'
import { ProtobufWriter } from './protobuf-writer.ts'
import type { Swagger, SwaggerOperation } from './v2.ts'

type Fill = (writer: ProtobufWriter) => void

/** Maps are lists of pairs: the name is field 1, the value field 2. */
const pair = (writer: ProtobufWriter, field: number, name: string, value: Fill) =>
  writer.message(field, (w) => w.text(1, name).message(2, value))

/** Untyped values are encoded as YAML text, of which JSON is a subset. */
const any =
  (value: unknown): Fill =>
  (w) =>
    w.text(2, `${JSON.stringify(value)}\n`)

function extensions(writer: ProtobufWriter, field: number, of: object): void {
  for (const [key, value] of Object.entries(of)) if (key.startsWith('x-')) pair(writer, field, key, any(value))
}

const schema =
  (of: Definition): Fill =>
  (w) => {
    w.text(1, of.$ref).text(2, of.format).text(4, of.description)
    if ('default' in of) w.message(5, any(of.default))
    w.texts(19, of.required)
    for (const value of (of.enum as readonly string[] | undefined) ?? []) w.message(20, any(value))
    if (of.additionalProperties) w.message(21, (item) => item.message(1, schema(of.additionalProperties as Definition)))
    if (of.type) w.message(22, (item) => item.text(1, of.type))
    if (of.items) w.message(23, (item) => item.message(1, schema(of.items as Definition)))
    if (of.properties) w.message(25, schemas(of.properties as Record<string, Definition>))
    extensions(w, 31, of)
  }

const schemas =
  (of: Record<string, Definition>): Fill =>
  (w) => {
    for (const [name, value] of Object.entries(of)) pair(w, 1, name, schema(value))
  }

const parameter =
  (of: Record<string, unknown>): Fill =>
  (w) => {
    if (of.in === 'body') {
      w.message(1, (body) =>
        body
          .text(2, of.name)
          .text(3, of.in)
          .flag(4, of.required)
          .message(5, schema(of.schema as Definition)),
      )
      return
    }
    const isQuery = of.in === 'query'
    // A query parameter has one more field before its type than a path parameter.
    const plain: Fill = (p) =>
      p
        .flag(1, of.required)
        .text(2, of.in)
        .text(3, of.description)
        .text(4, of.name)
        .text(isQuery ? 6 : 5, of.type)
    w.message(2, (notBody) => notBody.message(isQuery ? 3 : 4, plain))
  }

const responses =
  (of: SwaggerOperation['responses']): Fill =>
  (w) => {
    for (const [code, { description, schema: body }] of Object.entries(of)) {
      pair(w, 1, code, (value) =>
        value.message(1, (response) => {
          response.text(1, description)
          if (body) response.message(2, (item) => item.message(1, schema(body)))
        }),
      )
    }
  }

const operation =
  (of: SwaggerOperation): Fill =>
  (w) => {
    w.texts(1, of.tags).text(3, of.description).text(5, of.operationId).texts(6, of.produces).texts(7, of.consumes)
    for (const p of of.parameters) w.message(8, (item) => item.message(1, parameter(p as Record<string, unknown>)))
    w.message(9, responses(of.responses))
    extensions(w, 13, of)
  }

const methods: Record<string, number> = { get: 2, put: 3, post: 4, delete: 5, patch: 8 }

/** Encodes the document as the protobuf message openapi.v2.Document, the only form that Go clients request. */
export function swaggerProtobuf(document: Swagger): Buffer {
  const writer = new ProtobufWriter()
  writer
    .text(1, document.swagger)
    .message(2, (info) => info.text(1, document.info.title).text(2, document.info.version))
  writer.message(8, (paths) => {
    for (const [path, item] of Object.entries(document.paths)) {
      pair(paths, 2, path, (w) => {
        for (const [method, of] of Object.entries(item)) w.message(methods[method]!, operation(of))
      })
    }
  })
  return writer.message(9, schemas(document.definitions)).finish()
}
