// Writes src/api/generated from the model files of @kubernetes/client-node (read as text, never imported) and from our
// own tables: types.ts (interfaces), schema.ts (for decoding, pruning and patches) and docs.ts (descriptions).
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const out = path.join(root, 'src/api/generated')
const tables = path.join(root, 'scripts/schema')
const packageDir = path.join(root, 'node_modules/@kubernetes/client-node')

/** A digest of the inputs. If it has not changed, nothing is written. */
function fingerprint() {
  const hash = createHash('sha256')
  hash.update(readFileSync(path.join(packageDir, 'package.json')))
  hash.update(readFileSync(fileURLToPath(import.meta.url)))
  for (const name of readdirSync(tables).sort()) hash.update(name).update(readFileSync(path.join(tables, name)))
  return hash.digest('hex')
}

const stamp = path.join(out, 'fingerprint')
const wanted = fingerprint()
if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) process.exit(0)

const { roots, apiVersionOf } = await import('./schema/kinds.mjs')
const { valueFields, pointerFields, emitFields, nullFields } = await import('./schema/zeroes.mjs')
const { listKeys, atomicStructs } = await import('./schema/lists.mjs')
const { goTypes } = await import('./schema/go-types.mjs')
const { enums } = await import('./schema/enums.mjs')
const { quantities } = await import('./schema/quantities.mjs')
const { additions } = await import('./schema/additions.mjs')
const { descriptions } = await import('./schema/descriptions.mjs')

/** Our name of a model: the Go name. The version is kept if it is not v1 or if two groups have the same name. */
const typeName = (model) => model.replace(/^V1(?=[A-Z])/, '')
const goName = (model) => model.replace(/^[A-Z][a-z]*?(?=V\d)/, '').replace(/^V\d+((alpha|beta)\d+)?/, '')
const goVersion = (model) => (/V\d+((alpha|beta)\d+)?/.exec(model)?.[0] ?? 'v1').toLowerCase()

/** The start of a paragraph. Kubernetes' texts have other pairs of spaces too. */
const paragraph = new RegExp(
  ` {2}(?=${[
    'Populated by the system',
    'This field (is|was|depends)',
    'This is an? (alpha|beta)',
    'If this field is',
    'Must be a DNS_LABEL',
    'Applied only if',
    'The check can be',
    'Alternatively, the driver',
    'Note: A',
    'The CSI driver specifies',
    'The following VolumeContext',
    'The other mode is',
    'For more information about',
  ].join('|')})`,
  'g',
)

/** A description as in Kubernetes. The models escape quotes and join paragraphs with two spaces. */
const plainText = (text) =>
  text
    .replace(/\\(["'\\/])/g, '$1')
    .replaceAll('*_/', '*/')
    .replace(paragraph, '\n\n')

function readModel(model) {
  const models = path.join(packageDir, 'dist/gen/models')
  const js = readFileSync(path.join(models, `${model}.js`), 'utf8')
  const dts = readFileSync(path.join(models, `${model}.d.ts`), 'utf8')
  const list = /attributeTypeMap = (\[[\s\S]*?\n\]);/.exec(js)
  const attributes = list ? JSON.parse(list[1]) : []
  const docs = {}
  const optional = new Set()
  const field = /(?:\/\*\*\s*\n\s*\* ?([\s\S]*?)\n?\s*\*\/\s*)?'([^']+)'(\?)?: /g
  const body = dts.slice(dts.indexOf('export declare class'))
  for (const m of body.matchAll(field)) {
    // Reserved words of TypeScript have an underscore in the models: _continue, _default, _from.
    if (m[1]) docs[m[2].replace(/^_/, '')] = plainText(m[1].replace(/\s*\n\s*\* ?/g, '\n').trim())
    if (m[3]) optional.add(m[2])
  }
  const doc = plainText(/\/\*\*\n\* ([\s\S]*?)\n\*\/\nexport declare class/.exec(dts)?.[1] ?? '')
  return { attributes, docs, optional, doc }
}

function scalar(type, format, where) {
  if (quantities.has(where)) return { kind: 'quantity' }
  if (format === 'date-time') return { kind: 'time' }
  if (format === 'date-time-micro') return { kind: 'microTime' }
  if (format === 'byte') return { kind: 'bytes' }
  if (format === 'int-or-string' || type === 'IntOrString') return { kind: 'intOrString' }
  if (type === 'number') return { kind: format === 'double' ? 'double' : format === 'int64' ? 'int64' : 'int32' }
  if (type === 'string' || type === 'boolean') return { kind: type }
  if (type === 'any' || type === 'object') return { kind: 'raw' }
  return undefined
}

function fieldType(type, format, where, need) {
  const array = /^Array<(.*)>$/.exec(type)
  if (array) return { kind: 'list', of: fieldType(array[1], format, where, need) }
  const map = /^\{ \[key: string\]: (.*); \}$/.exec(type)
  if (map) return { kind: 'map', of: fieldType(map[1], format, where, need) }
  const plain = scalar(type, format, where)
  if (plain) return plain
  need(type)
  return { kind: 'struct', name: typeName(type) }
}

/** Metadata is always a value and never a pointer. */
const isMeta = (type) => type.name === 'ObjectMeta' || type.name === 'ListMeta'

/**
 * Empty strings, lists and maps are omitted. Structures, numbers and booleans are pointers. Tables list the exceptions.
 */
function zeroOf(where, type, required) {
  if (emitFields.has(where) || nullFields.has(where)) return 'emit'
  if (pointerFields.has(where)) return 'keep'
  if (valueFields.has(where)) return 'omit'
  if (required || isMeta(type)) return 'emit'
  switch (type.kind) {
    case 'list':
    case 'map':
    case 'string':
    case 'bytes':
      return 'omit'
    default:
      return 'keep'
  }
}

const first = ['apiVersion', 'kind', 'metadata']
/** Sorts the fields that identify an object first. */
const rank = (attribute) => (first.includes(attribute.baseName) ? first.indexOf(attribute.baseName) : first.length)

const schema = {}
const docs = {}
const queue = [...roots]
const seen = new Set(queue)
const need = (model) => {
  if (!seen.has(model)) {
    seen.add(model)
    queue.push(model)
  }
}
while (queue.length) {
  const model = queue.shift()
  const name = typeName(model)
  const { attributes, docs: fieldDocs, optional, doc } = readModel(model)
  const fields = {}
  for (const a of attributes.toSorted((a, b) => rank(a) - rank(b))) {
    const where = `${name}.${a.baseName}`
    const type = fieldType(a.type, a.format, where, need)
    const required = !optional.has(a.name)
    const flags = {
      ...(required ? { required } : {}),
      ...(nullFields.has(where) ? { nullable: true } : {}),
      ...(goTypes[where] ? { goType: goTypes[where] } : {}),
      ...(enums[where] ? { enum: enums[where] } : {}),
    }
    fields[a.baseName] = { name: a.baseName, type, zero: zeroOf(where, type, required), ...flags, ...listKeys[where] }
  }
  const about = {
    ...(apiVersionOf[model] ? { apiVersion: apiVersionOf[model], kind: goName(model) } : {}),
    ...(atomicStructs.has(name) ? { mapType: 'atomic' } : {}),
  }
  schema[name] = { goName: goName(model), goVersion: goVersion(model), ...about, fields }
  docs[name] = { '': doc, ...fieldDocs }
}
for (const [name, { fields, doc, ...about }] of Object.entries(additions)) {
  // A field of ours in a Kubernetes type, which stock servers do not know.
  const own = schema[name] ? { isOurs: true } : {}
  schema[name] ??= { goName: name, goVersion: 'v1', ...about, fields: {} }
  docs[name] ??= { '': doc ?? '' }
  for (const [key, { doc: fieldDoc, ...field }] of Object.entries(fields)) {
    schema[name].fields[key] = {
      name: key,
      zero: zeroOf(`${name}.${key}`, field.type, field.required),
      ...field,
      ...own,
    }
    docs[name][key] = fieldDoc
  }
}
const tabled = [
  ...valueFields,
  ...pointerFields,
  ...emitFields,
  ...nullFields,
  ...quantities,
  ...[listKeys, goTypes, enums, descriptions].flatMap(Object.keys),
]
for (const where of tabled) {
  const [struct, field] = where.split('.')
  if (!schema[struct]?.fields[field]) throw new Error(`a table names ${where}, which the models do not have`)
}
for (const [where, text] of Object.entries(descriptions)) {
  const [struct, field] = where.split('.')
  docs[struct][field] = typeof text === 'function' ? text(docs[struct][field]) : text
}
for (const name of atomicStructs)
  if (!schema[name]) throw new Error(`a table names ${name}, which the models do not have`)

function tsType(type) {
  switch (type.kind) {
    case 'struct':
      return type.name
    case 'list': {
      const of = tsType(type.of)
      return /^\w+$/.test(of) ? `${of}[]` : `(${of})[]`
    }
    case 'map':
      return `Record<string, ${tsType(type.of)}>`
    case 'boolean':
      return 'boolean'
    case 'int32':
    case 'double':
      return 'number'
    case 'int64':
      return 'Int64'
    case 'intOrString':
      return 'number | string'
    case 'raw':
      return 'any'
    default:
      return 'string'
  }
}
const lines = [
  '// Generated by scripts/generate.mjs. Do not edit.',
  "import type { Int64 } from '../numbers/int64.ts'",
  '',
]
for (const [name, struct] of Object.entries(schema).sort(([a], [b]) => (a < b ? -1 : 1))) {
  if (docs[name]['']) lines.push(`/** ${docs[name][''].replaceAll('*/', '*\\/')} */`)
  lines.push(`export interface ${name} {`)
  for (const f of Object.values(struct.fields)) {
    // The zero of a time is encoded as null. The field is not required.
    const time = f.zero === 'emit' && /^(micro)?time$/i.test(f.type.kind)
    const optional = time || (!f.required && f.zero !== 'emit')
    lines.push(
      `  ${/^[\w$]+$/.test(f.name) ? f.name : `'${f.name}'`}${optional ? '?' : ''}: ${tsType(f.type)}${time ? ' | null' : ''}`,
    )
  }
  lines.push('}', '')
}
mkdirSync(out, { recursive: true })
writeFileSync(path.join(out, 'types.ts'), lines.join('\n'))
const asModule = (name, type, value) =>
  `// Generated by scripts/generate.mjs. Do not edit.\n${type.import ?? ''}export const ${name}: ${type.name} = JSON.parse(${JSON.stringify(JSON.stringify(value))})\n`
writeFileSync(
  path.join(out, 'schema.ts'),
  asModule(
    'schema',
    { import: "import type { SchemaTable } from '../schema/schema.ts'\n", name: 'SchemaTable' },
    schema,
  ),
)
writeFileSync(
  path.join(out, 'docs.ts'),
  `// Generated by scripts/generate.mjs. Do not edit.\n/** Descriptions by type and field, as JSON text: parsed only by who shows them. */\nexport const docsText = ${JSON.stringify(JSON.stringify(docs))}\n`,
)
writeFileSync(stamp, wanted)
console.log(`generated ${Object.keys(schema).length} types`)
