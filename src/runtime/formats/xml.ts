/** An element of an XML document: enough for reports, without namespaces and DTDs. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlElement[];
  /** All character data directly inside, joined. */
  readonly text: string;
}

interface OpenElement {
  name: string;
  attributes: Record<string, string>;
  children: OpenElement[];
  text: string;
}

const TOKEN =
  /<!--[\s\S]*?-->|<!\[CDATA\[([\s\S]*?)\]\]>|<\?[\s\S]*?\?>|<!DOCTYPE[^>[]*(?:\[[\s\S]*?\])?[^>]*>|<\/([\w:.-]+)\s*>|<([\w:.-]+)((?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(\/?)>|([^<]+)/gy;

/** The root of a document; undefined when it is not well formed. */
export function parseXml(source: string): XmlElement | undefined {
  const document: OpenElement = { name: '', attributes: {}, children: [], text: '' };
  const stack = [document];
  let end = 0;
  for (const match of source.matchAll(TOKEN)) {
    const [whole, cdata, closing, opening, attributes, selfClosing, text] = match;
    end = match.index + whole.length;
    const current = stack.at(-1) as OpenElement;
    if (cdata !== undefined) current.text += cdata;
    else if (text !== undefined) current.text += decodeEntities(text);
    else if (closing !== undefined) {
      if (stack.length < 2 || stack.pop()?.name !== closing) return undefined;
    } else if (opening !== undefined) {
      const element = { name: opening, attributes: attributesOf(attributes ?? ''), children: [], text: '' };
      current.children.push(element);
      if (selfClosing !== '/') stack.push(element);
    }
  }
  const [root, ...more] = document.children;
  return end === source.length && stack.length === 1 && more.length === 0 ? root : undefined;
}

function attributesOf(text: string): Record<string, string> {
  const pairs = [...text.matchAll(/([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)];
  return Object.fromEntries(pairs.map(([, name, double, single]) => [name, decodeEntities(double ?? single ?? '')]));
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

function decodeEntities(text: string): string {
  return text.replaceAll(/&(?:#x([0-9a-fA-F]+)|#(\d+)|(\w+));/g, (whole, hex?: string, decimal?: string, name?: string) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : whole;
  });
}

/** All elements of a name below this one, itself included, in the order of the document. */
export function elementsNamed(root: XmlElement, name: string): XmlElement[] {
  return [...(root.name === name ? [root] : []), ...root.children.flatMap((child) => elementsNamed(child, name))];
}
