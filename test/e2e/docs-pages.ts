/** Markdown, as far as the tests of the documentation need it. Pure. */

export interface Page {
  readonly path: string;
  readonly text: string;
}

export interface Fence {
  readonly language: string;
  readonly body: string;
}

export function fences(text: string): Fence[] {
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = '', body = '']) => ({ language, body }));
}

/** Calls of the program in shell blocks, after a prompt in other blocks, and in the text. Usage lines and talk about it are none. */
export function commandLines({ text }: Page, program: 'agentiso' | 'kubectl'): string[] {
  const isCall = new RegExp(`^(?:scripts/)?${program} [-a-z]`);
  const inBlocks = fences(text).flatMap(({ language, body }) => {
    const lines = body.replaceAll('\\\n', ' ').split('\n');
    return language === 'sh' ? lines : lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2));
  });
  const inText = [...withoutFences(text).matchAll(/`([^`]+)`/g)].map(([, code = '']) => code.replaceAll('\n', ' '));
  return [...inBlocks, ...inText].map((line) => line.trim()).filter((line) => isCall.test(line) && !/[<[…]/.test(line));
}

/** The words of the first command of a line: quotes taken off, comments and what it is piped into left out. */
export function shellWords(line: string): string[] {
  const words = line.matchAll(/'([^']*)'|"([^"]*)"|([^\s'"]+)|(\s+)/g);
  const found: string[] = [];
  let isOpen = false;
  for (const [, single, double, plain, space] of words) {
    if (space === undefined && !isOpen && /^[#|>&;]/.test(plain ?? '')) break;
    if (space === undefined) found.push(`${isOpen ? found.pop() : ''}${single ?? double ?? plain ?? ''}`);
    isOpen = space === undefined;
  }
  return found;
}

/** Links to files of the repository, and within a page. */
export function linksIn(text: string): string[] {
  return [...withoutFences(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link).filter((link) => !/^[a-z]+:/.test(link));
}

/** As anchors. */
export function headingsOf(text: string): string[] {
  return [...withoutFences(text).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function withoutFences(text: string): string {
  return text.replace(/^```[\s\S]*?^```$/gm, '');
}
