import type { FieldSet } from './field-set.ts'
import type { MergeType } from './merge-type.ts'
import { type ListType, asFields, compare, fieldType, hasNothing, itemElement, itemType, shapeOf } from './typed-value.ts'

/** A tree of the values of a type that were created lately, by the fields they set. */
interface Created {
  root: CreatedNode
  nodes: number
}

/** One step on the way through a value. Most nodes have one child: its name is compared before any map is looked into. */
class CreatedNode {
  /** The fields of the values that end here. */
  set: FieldSet | undefined = undefined
  #name: string | undefined = undefined
  #child: CreatedNode | undefined = undefined
  #others: Map<string, CreatedNode> | undefined = undefined

  child(name: string, tree: Created): CreatedNode {
    if (this.#name === name) return this.#child!
    if (this.#name === undefined) {
      this.#name = name
      return (this.#child = newNode(tree))
    }
    let other = this.#others?.get(name)
    if (!other) (this.#others ??= new Map()).set(name, (other = newNode(tree)))
    return other
  }
}

function newNode(tree: Created): CreatedNode {
  tree.nodes++
  return new CreatedNode()
}

const noFields: ReadonlySet<string> = new Set()
const created = new WeakMap<MergeType, Created>()
/** Past this the tree is begun anew, so that nobody can fill the memory through it. */
const maxNodes = 8192
const newTree = (): Created => ({ root: new CreatedNode(), nodes: 0 })

/**
 * What is added where `after` is made and `before` is what the type always has. Objects that set the same fields, such as the
 * pods of a ReplicaSet, have the same set: it is found by a walk that compares names and makes nothing.
 */
export function addedFields(type: MergeType, before: unknown, after: unknown, skips: ReadonlySet<string>): FieldSet {
  let tree = created.get(type)
  if (!tree || tree.nodes > maxNodes) created.set(type, (tree = newTree()))
  const start = tree.root.child(skips.size + (skips.has('spec') ? 's' : ''), tree)
  const last = nodeAfter(start, type, after, tree, skips)
  return (last.set ??= compare(type, before, after, skips).changed)
}

/** Goes on in the tree by all that decides which fields a value sets. */
function nodeAfter(node: CreatedNode, type: MergeType, value: unknown, tree: Created, skips: ReadonlySet<string> = noFields): CreatedNode {
  if (value === null) return node.child(nothing, tree)
  const shape = shapeOf(type, value)
  if (shape === 'leaf' || hasNothing(value)) return node.child(leafStep(value), tree)
  let at = node
  if (shape === 'map') {
    const fields = asFields(value)
    for (const name in fields) {
      if (fields[name] !== undefined && !skips.has(name)) at = nodeAfter(at.child(name, tree), fieldType(type, name), fields[name], tree)
    }
  } else if (Array.isArray(value)) {
    for (const item of value) at = nodeAfter(at.child(itemElement(type as ListType, item) ?? '', tree), itemType(type), item, tree)
  }
  return at.child(ending, tree)
}

/** Tells apart values that may be what the type always has: null, nothing inside, a zero. Steps that are no names begin with a NUL. */
function leafStep(value: unknown): string {
  if (value === null) return nothing
  if (hasNothing(value)) return Array.isArray(value) ? '\0[]' : '\0{}'
  return value === '' || value === 0 || value === false ? '\0zero' : '\0value'
}

const nothing = '\0null'
/** The end of a map or list. */
const ending = '\0end'
