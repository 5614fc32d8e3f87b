import type { FieldSet } from './field-set.ts'
import type { MergeType } from './merge-type.ts'
import {
  type ListType,
  asFields,
  compare,
  fieldType,
  hasNothing,
  itemElement,
  itemType,
  shapeOf,
} from './typed-value.ts'

/** A trie of recently created values of a type, by the fields they set. */
interface Created {
  root: CreatedNode
  nodes: number
}

/**
 * A trie node: one step of the traversal of a value. Most nodes have one child, whose name is compared before any map
 * lookup.
 */
class CreatedNode {
  /** The field set of the values that end at this node. */
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
/** Above this size the trie is discarded, so that requests cannot exhaust memory. */
const maxNodes = 8192
const newTree = (): Created => ({ root: new CreatedNode(), nodes: 0 })

/**
 * The fields that are added when `after` is created from the type's default `before`. Objects that set the same fields,
 * such as the pods of a ReplicaSet, share one set. It is found by a traversal that compares names and allocates
 * nothing.
 */
export function addedFields(type: MergeType, before: unknown, after: unknown, skips: ReadonlySet<string>): FieldSet {
  let tree = created.get(type)
  if (!tree || tree.nodes > maxNodes) created.set(type, (tree = newTree()))
  const start = tree.root.child(skips.size + (skips.has('spec') ? 's' : ''), tree)
  const last = nodeAfter(start, type, after, tree, skips)
  return (last.set ??= compare(type, before, after, skips).changed)
}

/** Descends in the trie by everything that determines the fields of a value. */
function nodeAfter(
  node: CreatedNode,
  type: MergeType,
  value: unknown,
  tree: Created,
  skips: ReadonlySet<string> = noFields,
): CreatedNode {
  if (value === null) return node.child(nothing, tree)
  const shape = shapeOf(type, value)
  if (shape === 'leaf' || hasNothing(value)) return node.child(leafStep(value), tree)
  let at = node
  if (shape === 'map') {
    const fields = asFields(value)
    for (const name in fields) {
      if (fields[name] !== undefined && !skips.has(name))
        at = nodeAfter(at.child(name, tree), fieldType(type, name), fields[name], tree)
    }
  } else if (Array.isArray(value)) {
    for (const item of value)
      at = nodeAfter(at.child(itemElement(type as ListType, item) ?? '', tree), itemType(type), item, tree)
  }
  return at.child(ending, tree)
}

/** Distinguishes values that may equal the default: null, empty, zero. Steps that are not names begin with NUL. */
function leafStep(value: unknown): string {
  if (value === null) return nothing
  if (hasNothing(value)) return Array.isArray(value) ? '\0[]' : '\0{}'
  return value === '' || value === 0 || value === false ? '\0zero' : '\0value'
}

const nothing = '\0null'
/** The end of a map or list. */
const ending = '\0end'
