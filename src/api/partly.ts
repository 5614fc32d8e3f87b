/** A value of which any part may be left out: what a user writes, or a test needs. */
export type Partly<T> = T extends (infer Item)[] ? Partly<Item>[] : T extends object ? { [Key in keyof T]?: Partly<T[Key]> } : T
