# frozen_string_literal: true

# Writes the API pages of the gem as Markdown: what sig/ declares, described by the comments in lib/.
#
#     ruby tools/site_ruby.rb build/site-pages/api/ruby
#
# RDoc and RBS come with Ruby.

require "fileutils"
require "rbs"
require "rdoc"

GEM = File.expand_path("../bindings/ruby", __dir__)
DECLARATIONS = RBS::AST::Declarations
MEMBERS = RBS::AST::Members
TAGS = { "param" => "", "return" => "returns ", "raise" => "raises ", "yieldparam" => "yields ",
         "option" => "option " }.freeze

# Returns the comment of each class and method by its full name: `Regauge::Store#restore`.
def comments
  rdoc = RDoc::RDoc.new
  rdoc.options = RDoc::Options.new.tap { |options| options.verbosity = 0 }
  rdoc.store = RDoc::Store.new
  # The backend for JRuby implements what the other files describe.
  rdoc.parse_files(Dir["#{GEM}/lib/**/*.rb"] - Dir["#{GEM}/lib/regauge/command{.rb,/*.rb}"])
  rdoc.store.all_classes_and_modules.each_with_object({}) do |owner, found|
    found[owner.full_name] = owner.comment_location.map { |comment, _| comment.text }.join("\n\n")
    [*owner.method_list, *owner.attributes].each do |one|
      comment = [one, *one.is_alias_for].map { |source| source.comment.to_s.empty? ? "" : source.comment.text }
      name = one.name == "new" ? "#initialize" : "#{one.singleton ? "." : "#"}#{one.name}"
      found["#{owner.full_name}#{name}"] = comment.find { |text| !text.empty? } || ""
    end
  end
end

# Returns a tag of YARD as an item of a list; nil for one that says no more than the signature.
def item(tag)
  name, words = tag.strip.gsub(/\s*\n\s*/, " ").delete_prefix("@").split(" ", 2)
  return unless TAGS[name] && words && !words.match?(/\A\[[^\]]*\]\z/)

  "- #{TAGS[name]}#{words.sub(/\A(?!\[)([\w*&:]+)(?= |\z)/, '`\1`').sub(/\[([^\]]*)\]/, '(`\1`)')}"
end

# Returns a comment as Markdown: examples as code, and the tags as a list.
def markdown(comment)
  tags, texts = comment.gsub(/^# ?/, "").split(/^(?=@)/).partition { |part| part.start_with?("@") }
  blocks = texts.join.strip.split(/\n{2,}/).map do |block|
    block.start_with?("  ") ? "```ruby\n#{block.gsub(/^ {2}/, "")}\n```" : block
  end
  items = tags.filter_map { |tag| item(tag) }
  [*blocks, items.join("\n")].join("\n\n").gsub(/\{([#.:\w?!=]+)\}/, '`\1`')
                                 .gsub("docs/ruby.md", "[the guide](../../ruby.md)").strip
end

# The page of a class or module, with those in it.
class Page
  def initialize(comments)
    @comments = comments
    @parts = []
  end

  def add(declaration, scope, level, nested: true)
    name = [*scope, declaration.name.to_s].join("::")
    @parts << "#{"#" * level} `#{name}`" << markdown(@comments[name].to_s)
    declaration.members.grep(MEMBERS::Include) { |one| @parts << "Includes `#{one.name}`." }
    declaration.members.grep(MEMBERS::Attribute) { |one| attribute(name, one, level + 1) }
    declaration.members.grep(MEMBERS::MethodDefinition) { |one| method(name, one, level + 1) }
    classes(declaration).each { |one| add(one, name, level + 1) } if nested
    self
  end

  def to_s
    @parts.reject(&:empty?).join("\n\n") << "\n"
  end

  private

  def attribute(owner, one, level)
    entry(level, one.name, "#{one.name}: #{one.type}", @comments["#{owner}##{one.name}"])
  end

  def method(owner, one, level)
    place = one.kind == :singleton ? "." : "#"
    title = one.name == :initialize ? "new" : one.name
    shown = place == "." ? "#{owner[/\w+\z/]}.#{title}" : title
    types = one.types.map { |type| "#{shown}#{" " if shown.match?(/\W\z/)}#{type}" }
    entry(level, title, types.join("\n"), @comments["#{owner}#{place}#{one.name}"])
  end

  def signature(text)
    "```{code-block} text\n:class: signature\n\n#{text}\n```"
  end

  def entry(level, title, signature, comment)
    @parts << "#{"#" * level} `#{title}`" << signature(signature.delete("`")) << markdown(comment.to_s)
  end
end

def classes(declaration)
  declaration.members.select { |one| one.is_a?(DECLARATIONS::Class) || one.is_a?(DECLARATIONS::Module) }
end

# Returns the Markdown of the first page: the module's own methods, and what has no page of its own.
def index(root, found, with_page, short)
  page = Page.new(found).add(root, nil, 1, nested: false)
  list = short.map { |one| "- `#{one.name}`: #{markdown(found["Regauge::#{one.name}"].to_s).tr("\n", " ")}" }
  <<~END
    #{page}
    ## Formats and errors

    A format has the methods of [`Codec`](codec.md), an error those of [`Error`](error.md).

    #{list.join("\n")}

    ```{toctree}
    :hidden:

    #{with_page.map { |one| file(one) }.join("\n")}
    ```
  END
end

def file(declaration)
  declaration.name.to_s.downcase
end

target = ARGV.fetch(0)
FileUtils.mkdir_p(target)
found = comments
root, = RBS::Parser.parse_signature(File.read("#{GEM}/sig/regauge.rbs"))
own = [MEMBERS::MethodDefinition, MEMBERS::Attribute, MEMBERS::Include]
with_page, short = classes(root).partition do |one|
  # A format has a class of its own, the writer.
  classes(one).size > 1 || one.members.any? { |member| own.any? { |kind| kind === member } }
end
with_page.each { |one| File.write("#{target}/#{file(one)}.md", Page.new(found).add(one, "Regauge", 1)) }
File.write("#{target}/index.md", index(root, found, with_page, short))
puts "site_ruby: #{with_page.size + 1} pages"
